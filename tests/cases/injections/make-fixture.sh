#!/usr/bin/env bash
# Makes the project in which the injected lines are run: make-fixture.sh DIR
# Same bytes and same commit ids on every run, so native tools and ours can be compared byte for byte.
set -euo pipefail
dir=${1:?usage: make-fixture.sh DIR}
rm -rf "$dir"; mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
work=$dir/work; origin=$dir/origin.git
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null TZ=UTC LC_ALL=C
export GIT_AUTHOR_NAME="Ada Example" GIT_AUTHOR_EMAIL=ada@example.org
export GIT_COMMITTER_NAME="Ada Example" GIT_COMMITTER_EMAIL=ada@example.org
n=0
commit() { # commit MESSAGE: one commit, one hour after the last
  n=$((n + 1)); local t=$((1767225600 + n * 3600))
  GIT_AUTHOR_DATE="$t +0000" GIT_COMMITTER_DATE="$t +0000" git commit -q --allow-empty -m "$1"
}
git init -q --bare -b main "$origin"
git init -q -b main "$work"; cd "$work"
git config user.name "Ada Example"; git config user.email ada@example.org
mkdir -p src/api src/components lib docs/adr tests .github/workflows scripts migrations
printf '{\n  "name": "garden",\n  "version": "1.4.0",\n  "type": "module",\n  "dependencies": {"next": "15.0.0", "react": "19.0.0"},\n  "devDependencies": {"vitest": "3.0.0", "playwright": "1.50.0"}\n}\n' > package.json
printf 'node_modules/\ndist/\n*.log\n.env\n' > .gitignore
printf '# Garden\n\nPlans beds and dates.\n\n## Use\n\n- [ ] write more\n- [x] start\n' > README.md
printf '# Architecture\n\nOne service.\n' > docs/architecture.md
printf '# 1. Use plain files\n' > docs/adr/0001-plain-files.md
printf 'export function plant(a) {\n  return a + 1;\n}\n' > src/api/plant.js
printf 'import {plant} from "./api/plant.js";\nconsole.log(plant(2)); // TODO: auth session\n' > src/index.js
printf 'export const Bed = () => null;\n' > src/components/Bed.tsx
printf 'test("plant", () => {});\n' > tests/plant.test.js
printf 'def test_x():\n    pass\n' > tests/test_x.py
printf 'name: ci\non: [push]\n' > .github/workflows/ci.yml
printf 'name: release\non: [push]\n' > .github/workflows/release.yml
printf '#!/bin/sh\necho build\n' > scripts/build.sh; chmod +x scripts/build.sh
printf 'create table bed (id int);\n' > migrations/001_bed.sql
git add .; commit "feat: start the garden"
printf '[project]\nname = "garden"\nversion = "1.4.0"\n' > pyproject.toml
git add .; commit "chore: add project file"
git tag v0.9.0
printf 'export class Tool {}\n' > lib/tool.ts
git add .; commit "feat(lib): add a tool"
printf '# Changelog\n\n## 1.0.0\n\n- first\n' > CHANGELOG.md
git add .; commit "docs: changelog"
n=$((n + 1)); GIT_COMMITTER_DATE="$((1767225600 + n * 3600)) +0000" git tag -a v1.0.0 -m "first release"
git remote add origin "$origin"; git push -q origin main --tags
git switch -q -c develop; printf 'export const x = 1;\n' > src/x.ts; git add .; commit "feat: x"; git push -q -u origin develop
git switch -q main; git branch -q --set-upstream-to=origin/main
git switch -q -c topic/beds; printf 'secret = read_token()\n' >> tests/test_x.py; git add .; commit "fix: token handling"
git switch -q main
printf 'export function plant(a, b) {\n  return a + b;\n}\n' > src/api/plant.js; git add .; commit "fix(api): two arguments"
GIT_COMMITTER_DATE="1767300000 +0000" GIT_AUTHOR_DATE="1767300000 +0000" git merge -q --no-ff -m "merge topic" topic/beds
git remote set-head origin main
git mv lib/tool.ts lib/tools.ts                      # staged rename
printf 'one more line\n' >> README.md; git add README.md   # staged change
printf '// later\n' >> src/index.js                  # unstaged change
rm docs/architecture.md                              # unstaged deletion
printf 'draft\n' > notes.txt; mkdir -p drafts; printf 'b\n' > drafts/b.md   # untracked
printf 'ignored\n' > debug.log
find . -path ./.git -prune -o -exec touch -h -d '2026-01-02T03:04:05Z' {} +
git update-index -q --refresh || true
