#!/usr/bin/env python3
"""Drives `skillgate session` from Python, with nothing but the standard library.

    python3 session.py /path/to/skillgate

`Session` is all that a program needs to use Skillgate. Below it, `conversation` makes a few skills in a home of its own, uses every
operation once, and prints the lines that go over the wire: `>` to Skillgate, `<` from it.
"""

import itertools
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading


class SkillgateError(Exception):
    """A request that gave nothing: `code`, `number`, `message`, `rule` and `help` say why, and what to do."""

    def __init__(self, error):
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        # That of the Skill tool, for a skill that is not invoked.
        self.number = error["number"]
        self.message = error["message"]
        self.rule = error["rule"]
        self.help = error["help"]


class Request:
    """A request that is on its way."""

    def __init__(self, session, id):
        self.session = session
        self.id = id
        self.events = queue.Queue()
        self.answer = queue.Queue(maxsize=1)

    def wait(self):
        """The result, when it is there."""
        answer = self.answer.get()
        if not answer["ok"]:
            raise SkillgateError(answer["error"])
        return answer["result"]

    def cancel(self):
        """Stops the request. `wait` then raises an error with the code `cancelled`."""
        self.session.send({"op": "cancel", "id": self.id})


class Session:
    """One conversation. Requests may overlap; each has an id, and what comes back carries it."""

    def __init__(self, command, on_ask=None, on_line=None):
        # Who is asked when something needs an agreement: gets the event, gives "once", "always" or "no".
        self.on_ask = on_ask or (lambda event: "no")
        self.on_line = on_line or (lambda direction, line: None)
        # What became of the skills when they were loaded again.
        self.changes = queue.Queue()
        self.process = subprocess.Popen(
            [*command, "session"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        self.ids = itertools.count(1)
        self.writing = threading.Lock()
        self.waiting = {}
        self.send({"op": "hello", "version": 1})
        greeting = self.read()
        if not greeting["ok"]:
            raise SkillgateError(greeting["error"])
        self.version = greeting["skillgate"]
        threading.Thread(target=self.listen, daemon=True).start()

    def send(self, line):
        text = json.dumps(line)
        with self.writing:
            self.on_line(">", text)
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()

    def read(self):
        text = self.process.stdout.readline()
        if not text:
            raise EOFError("skillgate has ended")
        self.on_line("<", text.rstrip("\n"))
        return json.loads(text)

    def listen(self):
        try:
            while True:
                self.take(self.read())
        except EOFError:
            gone = {"code": "ended", "number": None, "message": "skillgate has ended", "rule": None, "help": []}
            for request in list(self.waiting.values()):
                request.answer.put({"ok": False, "error": gone})

    def take(self, line):
        if "event" in line:
            event = line["event"]
            if event["type"] == "ask":
                # Elsewhere, so that what the person takes time for does not hold up other requests.
                threading.Thread(target=self.ask, args=(event,), daemon=True).start()
            request = self.waiting.get(line["id"])
            if request:
                request.events.put(event)
            elif event["type"] == "skills-changed":
                # Of no request: what was told of the skills before is out of date.
                self.changes.put(event)
            return
        request = self.waiting.pop(line["id"], None)
        if request:
            request.answer.put(line)
        elif not line["ok"]:
            print(f"skillgate: {line['error']['message']}", file=sys.stderr)

    def ask(self, event):
        decision = self.on_ask(event)
        if decision is not None:
            request = Request(self, event["ask"])
            self.waiting[request.id] = request
            self.send({"op": "answer", "id": request.id, "decision": decision})

    def begin(self, op, **fields):
        """Sends a request and gives it at once."""
        request = Request(self, next(self.ids))
        self.waiting[request.id] = request
        self.send({"op": op, "id": request.id, **fields})
        return request

    def call(self, op, **fields):
        """Sends a request and gives its result."""
        return self.begin(op, **fields).wait()

    def close(self):
        self.call("bye")
        self.process.stdin.close()
        return self.process.wait()


SKILLS = {
    "greet": """---
description: Greets somebody by name.
allowed-tools: Bash, Read
---
Say this to $0: !`echo "hello, $0"`
""",
    "guard": """---
description: Keeps rm from being run.
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: |
            if grep -q "rm "; then echo "rm is not run here" >&2; exit 2; fi
---
Remove nothing.
""",
    "notes": """---
description: Says how notes are kept.
paths: notes/**
---
Keep each note in a file of its own.
""",
    "research": """---
description: Looks something up in an agent of its own.
context: fork
---
Find out: $ARGUMENTS
""",
}


def conversation(session, place):
    """Uses every operation once, and checks what comes back."""
    # What there is, and what a model is told of it.
    listed = session.call("list", state="active", source="user")
    assert sorted(skill["name"] for skill in listed["skills"]) == ["greet", "guard", "research"], listed
    assert "- greet: Greets somebody by name." in session.call("listing", budget_chars=2000)["text"]
    assert session.call("search", query="look something up")["results"][0]["name"] == "research"
    names = [tool["name"] for tool in session.call("tools", names=True)["tools"]]
    assert names[:2] == ["Skill", "DiscoverSkills"], names

    # A skill that waits for the files it is about.
    touched = session.call("touch", paths=["notes/today.md"])
    assert touched["changed"] and [name.split(":")[-1] for name in touched["activated"]] == ["notes"], touched

    # A skill that comes while the conversation goes on. It would be found without `reload` as well, a moment later; whichever is
    # first, the event tells of it.
    (place / "late").mkdir()
    (place / "late/SKILL.md").write_text("---\ndescription: Comes later.\n---\nLate.\n", encoding="utf-8")
    (place / "late").rename(place / "home/.claude/skills/late")
    session.call("reload")
    assert "- late: Comes later." in session.call("listing")["text"]
    came = session.changes.get()
    assert came["offered"] and not came["taken_back"], came

    # Tools that the model knows by name only, until it asks.
    session.call("register_tools", tools=[{"name": "mcp__mail__send", "description": "Sends mail.", "is_mcp": True}])
    assert session.call("tool_search", query="select:mcp__mail__send")["tools"][0]["name"] == "mcp__mail__send"

    # Two skills at once. One of them has a hook, which needs an agreement.
    greeting = session.begin("invoke", skill="greet", args="Ada", caller="user")
    guarding = session.begin("invoke", skill="guard", caller="model", tool_use_id="toolu_1")
    greeted, guarded = greeting.wait(), guarding.wait()
    assert greeted["messages"][-1]["content"].rstrip().endswith("Say this to Ada: hello, Ada"), greeted
    assert greeted["audit"]["injections"][0]["commands"][0]["argv"] == ["echo", "hello, Ada"], greeted
    assert guarded["tool_result"] == "Launching skill: guard" and guarded["hooks"], guarded

    # Before the host's own tools run: rules, what the skills in use leave, and their hooks.
    removing = session.call("before_tool", tool="Bash", input={"command": "rm -r notes"})
    assert removing["decision"] == "deny" and "rm is not run here" in removing["because"], removing
    assert [hook["outcome"] for hook in removing["hooks"]] == ["denied"], removing
    fetching = session.call("before_tool", tool="WebFetch", input={"url": "https://example.com/"})
    assert fetching["decision"] == "deny" and "user:greet" in fetching["because"], fetching
    reading = session.call("before_tool", tool="Read", input={"file_path": "notes.md"})
    assert reading["decision"] == "allow", reading
    session.call("after_tool", tool="Read", input={"file_path": "notes.md"}, output="some notes")

    # A skill with an agent of its own, which this program runs.
    forked = session.call("invoke", skill="research", args="why", caller="model")
    assert forked["status"] == "host-fork" and "Find out: why" in forked["fork"]["prompt"], forked
    answer = session.call("fork_result", fork=forked["fork"]["fork"], text="Because.")
    assert answer["tool_result"] == "Because.", answer

    # Another turn, and the ends of this one.
    assert session.call("stop")["held"] is None
    session.call("event", event="Notification", input={"message": "done"})
    session.call("user_message", text="thanks")

    # What a person types: a skill by its name, or several with one text, or no command at all.
    typed = session.call("typed", line="/greet /notes Grace")
    prompts = [result["messages"][-1]["content"] for result in typed["results"]]
    assert "hello, Grace" in prompts[0] and "a file of its own" in prompts[1], typed
    assert session.call("typed", line="thanks again")["typed"] == "text"
    try:
        session.call("typed", line="/nosuch skill")
        raise AssertionError("there is no such skill")
    except SkillgateError as error:
        assert (error.code, error.number) == ("not-found", 1), error

    # The conversation gets too long, is kept, and goes on.
    compacted = session.call("compact")
    assert [skill["outcome"] for skill in compacted["skills"]] == ["whole", "whole", "whole"], compacted
    assert "used up" in compacted["text"] and "greet" in compacted["listing"], compacted
    saved = session.call("save")
    session.call("save", path=str(place / "conversation.json"))
    session.call("clear", preserve=[])
    assert session.call("compact")["skills"] == []
    restored = session.call("restore", data=saved["data"])
    assert restored["digest"] == saved["digest"] and len(restored["restored"]) == 3, restored
    session.call("restore", path=str(place / "conversation.json"))

    # What is not needed any more.
    assert "unloaded" in session.call("unload", skill="greet")["mark"]
    assert "revoked" in session.call("revoke", skill="guard")["marks"][0]["mark"]

    # What is asked for and stopped before somebody answers.
    session.on_ask = lambda event: None
    stopped = session.begin("invoke", skill="guard", caller="user")
    assert stopped.events.get()["type"] == "ask"
    stopped.cancel()
    try:
        stopped.wait()
        raise AssertionError("it was stopped")
    except SkillgateError as error:
        assert error.code == "cancelled", error


def main():
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        project = place / "project"
        project.mkdir()
        for name, text in SKILLS.items():
            skill = place / "home/.claude/skills" / name
            skill.mkdir(parents=True)
            (skill / "SKILL.md").write_text(text, encoding="utf-8")
        options = ["--home", str(place / "home"), "--project", str(project), *sys.argv[2:]]
        printing = threading.Lock()

        def show(direction, line):
            with printing:
                print(direction, line, flush=True)

        session = Session([sys.argv[1], *options], on_ask=lambda event: "once", on_line=show)
        conversation(session, place)
        return session.close()


if __name__ == "__main__":
    sys.exit(main())
