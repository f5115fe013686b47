# What jq defines in its own language.

def error: error(.);
def _key: if type == "string" then . else {(.): 0} end;
def add: reduce .[] as $x (null; . + $x);
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def select(f): if f then . else empty end;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def finites: select(isinfinite or isnan | not);
def normals: select(isnormal);
def isfinite: type == "number" and (isinfinite | not);
def recurse(f): def again: ., (f | again); again;
def recurse(f; condition): def again: ., (f | select(condition) | again); again;
def recurse: recurse(.[]?);
def while(condition; update): def again: if condition then ., (update | again) else empty end; again;
def range($to): _range(0; $to);
def range($from; $to): _range($from; $to);
def range($from; $to; $by):
  if $by > 0 then $from | while(. < $to; . + $by)
  elif $by < 0 then $from | while(. > $to; . + $by)
  else empty end;
def until(condition; update): def again: if condition then . else update | again end; again;
def repeat(f): def again: f | (., again); again;
def first(f): limit(1; f);
def first: .[0];
def last(f): reduce f as $x (null; $x);
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else last(limit($n + 1; f)) end;
def isempty(f): first((f | false), true);
def any(generator; condition): isempty(first(generator | condition | select(.) | 1)) | not;
def any(f): any(.[]; f);
def any: any(.);
def all(generator; condition): isempty(first(generator | condition | select(. | not) | 1));
def all(f): all(.[]; f);
def all: all(.);
def in(container): . as $key | container | has($key);
def inside(container): . as $part | container | contains($part);
def input: first(_input);
def paths: path(..) | select(length > 0);
def paths(f): path(.. | select(f)) | select(length > 0);
def del(places): delpaths([path(places)]);
def to_entries: [keys_unsorted[] as $key | {key: $key, value: .[$key]}];
def from_entries: reduce .[] as $entry ({};
  .[$entry | .key // .name // .Name // .Key | _key] = ($entry | if has("value") then .value else .Value end));
def with_entries(f): to_entries | map(f) | from_entries;
def walk(f): def again:
    if type == "object" then map_values(again) elif type == "array" then map(again) else . end | f;
  again;
def pick(places): . as $whole | reduce path(places) as $path (null; setpath($path; $whole | getpath($path)));
def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): _unique_by(map([f]));
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def unique: unique_by(.);
def min: . as $values | _min_by($values);
def max: . as $values | _max_by($values);
def reverse: [.[length - 1 - range(0; length)]];
def flatten($depth):
  if $depth < 0 then error("flatten depth must not be negative") else _flatten($depth) end;
def flatten: _flatten(1e9);
def join($separator): reduce .[] as $x (null;
    (if . == null then "" else . + $separator end)
    + ($x | if . == null then "" elif type | . == "boolean" or . == "number" then tojson else . end))
  // "";
def indices($x): if type == "array" and ($x | type) == "array" then .[$x]
  elif type == "array" then .[[$x]]
  elif type == "string" and ($x | type) == "string" then _text_indices($x)
  else .[$x] end;
def index($x): indices($x) | .[0];
def rindex($x): indices($x) | .[-1:][0];
def transpose:
  if . == [] then []
  else . as $rows | (map(length) | max) as $width
    | [range(0; $width) as $at | [range(0; $rows | length) as $row | $rows[$row][$at]]] end;
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations($n): . as $values | [range($n)] | map($values) | combinations;
def ascii_downcase: explode | map(if 65 <= . and . <= 90 then . + 32 else . end) | implode;
def ascii_upcase: explode | map(if 97 <= . and . <= 122 then . - 32 else . end) | implode;
def tostream: path(def again: (.[]? | again), .; again) as $path | getpath($path)
  | reduce path(.[]?) as $last ([$path, .]; [$path + $last]);
def fromstream(f): {x: null, e: false} as $begin
  | foreach f as $event ($begin;
      if .e then $begin else . end
      | if $event | length == 2
        then setpath(["e"]; $event[0] | length == 0) | setpath(["x"] + $event[0]; $event[1])
        else setpath(["e"]; $event[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(stream): . as $depth | null | stream
  | . as $event | if (.[0] | length) > $depth then setpath([0]; .[0][$depth:]) else empty end;
def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);
def INDEX(f): INDEX(.[]; f);
def IN(stream): any(stream == .; .);
def IN(source; stream): any(source == stream; .);
def JOIN($index; f): [.[] | [., $index[f]]];
def JOIN($index; stream; f): stream | [., $index[f]];
def JOIN($index; stream; f; joined): stream | [., $index[f]] | joined;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: todate;
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def debug(message): (message | debug | empty), .;
def halt_error: halt_error(5);
def match($pattern; $flags): _match($pattern; $flags; false) | .[];
def match($pattern): ($pattern | type) as $type
  | if $type == "string" then match($pattern; null)
    elif $type == "array" and ($pattern | length) > 1 then match($pattern[0]; $pattern[1])
    elif $type == "array" and ($pattern | length) > 0 then match($pattern[0]; null)
    else error($type + " not a string or array") end;
def test($pattern; $flags): _match($pattern; $flags; true);
def test($pattern): ($pattern | type) as $type
  | if $type == "string" then test($pattern; null)
    elif $type == "array" and ($pattern | length) > 1 then test($pattern[0]; $pattern[1])
    elif $type == "array" and ($pattern | length) > 0 then test($pattern[0]; null)
    else error($type + " not a string or array") end;
def _captures: reduce (.captures[] | select(.name != null)) as $group ({}; .[$group.name] = $group.string);
def capture($pattern; $flags): match($pattern; $flags) | _captures;
def capture($pattern): match($pattern) | _captures;
def scan($pattern; $flags): match($pattern; "g" + $flags)
  | if (.captures | length) == 0 then .string else [.captures[].string] end;
def scan($pattern): scan($pattern; null);
def split($pattern; $flags): . as $whole
  | [foreach ((match($pattern; $flags + "g") | [.offset, .length]), null) as $found ([0, null];
      if $found == null then [.[0], $whole[.[0]:]] else [$found[0] + $found[1], $whole[.[0]:$found[0]]] end;
      .[1])];
def splits($pattern; $flags): split($pattern; $flags) | .[];
def splits($pattern): splits($pattern; null);
def sub($pattern; text; $flags): . as $whole
  | (reduce match($pattern; $flags) as $found ({texts: [], from: 0};
      $whole[.from:$found.offset] as $gap
      | [$found | _captures | text] as $new
      | reduce range(0; $new | length) as $at (.; .texts[$at] += $gap + $new[$at])
      | .from = $found.offset + $found.length)
    | .texts[] + $whole[.from:])
  // $whole;
def sub($pattern; text): sub($pattern; text; "");
def gsub($pattern; text; $flags): sub($pattern; text; $flags + "g");
def gsub($pattern; text): sub($pattern; text; "g");
def abs: if type == "number" and . < 0 then -. elif type | . == "number" or . == "string" then . else -. end;
