# What jq defines differently from jaq.

def type: _type;
def _require(condition; text): if condition then . else error("\(_described) " + text) end;
def _assign(places; $value): reduce path(places) as $path (.; setpath($path; $value));
def _modify(places; update): reduce path(places) as $path (.;
  . as $whole | [limit(1; getpath($path) | update)] as $new
  | if $new == [] then delpaths([$path]) else setpath($path; $new[0]) end);
def _key(f): f | if isstring then . else error("Object keys must be strings") end;
def del(places): delpaths([path(places)]);
def to_entries: [keys_unsorted[] as $key | {key: $key, value: .[$key]}];
def from_entries: reduce .[] as $entry ({};
  . + {($entry | (if .key == null then .k // .name // .Name // .K // .Key else .key end)
        | if isstring then . else tojson end):
       ($entry | if has("value") then .value elif has("v") then .v else .Value end)});
def with_entries(f): to_entries | map(f) | from_entries;
def keys: if type == "object" then keys_unsorted | sort
  elif type == "array" then [range(length)] else error("\(_described) has no keys") end;
def map_values(f): _modify(.[]; f);
def walk(f): def inner:
    if type == "object" then . as $whole | reduce keys_unsorted[] as $key ({}; . + {($key): ($whole[$key] | inner)})
    elif type == "array" then map(inner) else . end | f;
  inner;
def sort: _require(isarray; "cannot be sorted, as it is not an array") | sort_by(.);
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def leaf_paths: paths(scalars);
def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p)
  | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init
  | foreach f as $i ($init;
      if .e then $init else . end
      | if $i | length == 2 then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input
  | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;
def join($separator): reduce .[] as $item (null;
    (if . == null then "" else . + $separator end)
    + ($item | if . == null then "" elif isstring then . else if type == "number" or type == "boolean" then tojson else . end end))
  // "";
def ascii_downcase: if isstring then explode | map(if 65 <= . and . <= 90 then . + 32 else . end) | implode
  else error("explode input must be a string") end;
def ascii_upcase: if isstring then explode | map(if 97 <= . and . <= 122 then . - 32 else . end) | implode
  else error("explode input must be a string") end;
def ltrimstr($prefix): if isstring and ($prefix | isstring) and startswith($prefix) then .[($prefix | length):] else . end;
def rtrimstr($suffix): if isstring and ($suffix | isstring) and $suffix != "" and endswith($suffix)
  then .[:length - ($suffix | length)] else . end;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def dateadd(unit; $n): . + $n;
def datesub(unit; $n): . - $n;
def date: todate;
def flatten($depth): if $depth < 0 then error("flatten depth must not be negative")
  else reduce .[] as $item ([]; if ($item | isarray) and $depth > 0 then . + ($item | flatten($depth - 1)) else . + [$item] end) end;
def flatten: flatten(1e9);
def in(container): . as $key | container | has($key);
def inside(container): . as $value | container | contains($value);
def input: [limit(1; inputs)] | if . == [] then error("No more inputs") else .[0] end;
def halt_error($status): _halt_error($status);
def halt_error: _halt_error(5);
def IN(stream): any(stream == .; .);
def IN(source; stream): any(source == stream; .);
def any(stream; f): isempty(first(stream | f | if . then 1 else empty end)) | not;
def all(stream; f): isempty(first(stream | f | if . then empty else 1 end));
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
def ascii: [.] | implode;
def getpath($path): if ($path | isarray) then reduce $path[] as $key (.; if . == null then null else .[$key] end)
  else error("Path must be specified as an array") end;
def min_by(f): if . == [] then null else sort_by(f) | .[0] end;
def max_by(f): if . == [] then null else [group_by(f)[-1][]] | .[-1] end;
def min: min_by(.);
def max: max_by(.);
def transpose: (map(length) | max // 0) as $width | . as $rows | [range($width) as $at | [$rows[] | .[$at]]];
def splits($re): splits($re; null);
def splits($re; flags): split($re; flags) | .[];
def recurse_down: recurse;
def finites: select(isinfinite or isnan | not);
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
def combinations($n): . as $dot | [range($n)] | map($dot) | combinations;
def test($re): if isstring then test($re; "") else error("\(_described) cannot be matched, as it is not a string") end;
def toarray: if isarray then . else [.] end;
