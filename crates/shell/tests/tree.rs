//! Programs and their trees; programs that are refused, with why and where.

mod dump;

use skillgate_shell::{ParseOptions, parse};

const OPTIONS: ParseOptions = ParseOptions::new(64 * 1024, 64);

/// The tree of a program, or why and where it is refused.
fn read(source: &str) -> Result<String, String> {
    let program = parse(source, &[], &OPTIONS);
    program
        .map(|program| dump::list(&program))
        .map_err(|error| format!("{:?} {}..{}", error.kind, error.span.start, error.span.end))
}

#[test]
fn programs_have_these_trees() {
    for (source, tree) in TREES {
        assert_eq!(read(source), Ok((*tree).to_owned()), "{source:?}");
    }
}

#[test]
fn programs_are_refused_with_a_place() {
    for (source, error) in REFUSED {
        assert_eq!(read(source), Err((*error).to_owned()), "{source:?}");
    }
}

#[test]
fn line_ends_of_both_kinds_give_the_same_tree() {
    for (source, tree) in TREES {
        assert_eq!(read(&source.replace('\n', "\r\n")), Ok((*tree).to_owned()), "{source:?} with CRLF");
    }
}

const TREES: &[(&str, &str)] = &[
    (r#"echo a=b 'x y' "d $x" \$z"#, r#"(echo a=b 'x y' "'d '+$x" '$'+z)"#),
    (r#"\e'c'h"o""#, r#"('e'+'c'+h+"'o'")"#),
    ("x=1 y+=2 cmd a=1", "(x=1 y+=2 cmd a=1)"),
    ("x=", "(x=-)"),
    (
        "x=~/a:~:$HOME/~ echo ~ ~root/x a~ x=~ --p=~ ~/{a,b}",
        "(x=~~+/a:+~~+:+$HOME+/~ echo ~~ ~root~+/x a~ x=+~~ --p=~ ~~+/{a,b})",
    ),
    (r#""""#, r#"("")"#),
    ("echo x=\\\n~ x\\\ny=~", "(echo x=+~~ x+y=+~~)"),
    ("echo x:~ ~. x=~:~a", "(echo x:~ ~.~ x=+~~+:+~a~)"),
    (r#"echo ''"" "$@""#, r#"(echo ''+"" "$At")"#),
    (
        r#"echo $x$1$10${10}$?$#$@$*$!$$$-$0 $ $. "$""#,
        r#"(echo $x+$1+$1+0+$10+$Status+$Count+$At+$Star+$Background+$Process+$Options+$0 $ $. "'$'")"#,
    ),
    (
        "echo ${#x} ${#} ${##} ${#@} ${#:-1} ${x}",
        "(echo ${x Length} $Count ${Count Length} ${At Length} ${Count:Default 1} $x)",
    ),
    (
        r#"echo ${x:-a b} ${x-} ${x:=w} ${x?msg} ${x:+"$y"} ${x+a'}'b}"#,
        r#"(echo ${x:Default a b} ${x Default -} ${x:Assign w} ${x Fail msg} ${x:Alternative "$y"} ${x Alternative a+'}'+b})"#,
    ),
    (
        r#"echo "${x:-a   b}" "${x:-'q'}" "${x:-"i $j"}" "${x:-a\}b\z}""#,
        r#"(echo "${x:Default 'a   b'}" "${x:Default ''q''}" "${x:Default "'i '+$j"}" "${x:Default 'a}b\z'}")"#,
    ),
    (
        r#"echo ${x#a*} ${x##*/} ${x%.*} "${x%%'*'}" "${x#"$y"}""#,
        r#"(echo ${x Prefix a*} ${x PrefixLongest */} ${x Suffix .*} "${x SuffixLongest '*'}" "${x Prefix "$y"}")"#,
    ),
    (
        r#"echo ${x/a/b} ${x//a/} ${x/#a/b} ${x/%a/b} ${x/a} ${x//\//_} "${x//'/'/$y}""#,
        r#"(echo ${x First a b} ${x All a -} ${x Prefix a b} ${x Suffix a b} ${x First a -} ${x All '/' _} "${x All '/' $y}")"#,
    ),
    (
        "echo ${x:1} ${x:1:2} ${x: -1} ${x:a?b:c:d} ${x::3} ${@:2}",
        "(echo ${x from 1} ${x from 1 for 2} ${x from (Minus 1)} ${x from (a ? b : c) for d} ${x from 0 for 3} ${At from 2})",
    ),
    ("echo ${x^} ${x^^} ${x,} ${x,,}", "(echo ${x upper} ${x upper all} ${x lower} ${x lower all})"),
    ("echo ${x:-{a}}", "(echo ${x:Default {a}+})"),
    (
        r#"echo $(a; b) `c $d` "`e "f" \"g\"`" `h \`i\` \$j`"#,
        r#"(echo $[(a); (b)] $[(c $d)] "$[(e "'f'" "'g'")]" $[(h $[(i)] $j)])"#,
    ),
    ("echo \"$(echo \"$(echo \")\")\" # c )\n)\"", r#"(echo "$[(echo "$[(echo "')'")]")]")"#),
    ("$(<f)", "($[(Read:f)])"),
    (
        "echo $((1+2*3)) $((x=1,y+=2)) $((a?b:c)) $((-2**2)) $((2**3**2)) $((1-2-3)) $((!x&&~y||z))",
        "(echo $(((1 Add (2 Multiply 3)))) $((((x = 1) Comma (y Add= 2)))) $(((a ? b : c))) $((((Minus 2) Power 2))) $(((2 Power (3 Power 2)))) $(((1 Subtract 2 Subtract 3))) $(((((Not x) And (Complement y)) Or z))))",
    ),
    (
        "echo $(( $x + ${#y} * $(n) )) $((x++ + --y)) $((0x1f+010+16#ff)) $(()) $(((1)))",
        "(echo $((($x Add (${y Length} Multiply $[(n)])))) $(((x++ Add --y))) $(((31 Add 8 Add 255))) $((0)) $((1)))",
    ),
    ("a | b |& c", "(a) | (b) |& (c)"),
    ("! a && b || ! ! c", "! (a) && (b) || (c)"),
    ("a & b; c &", "(a) &; (b); (c) &"),
    ("(a; b) >x 2>&1 <y", "sub((a); (b)) Write:x 2DuplicateOutput:1 Read:y"),
    ("{ a; } | { b\nc; }", "{(a)} | {(b); (c)}"),
    ("if a; then b; elif c; then d; else e; fi >o", "if[(a)]then[(b)]if[(c)]then[(d)]else[(e)] Write:o"),
    (r#"for x in a $b "c"; do d; done"#, r#"for x in a $b "'c'" do[(d)]"#),
    ("for x; do a; done", "for x do[(a)]"),
    ("for x do a; done", "for x do[(a)]"),
    ("while a; do b; done", "while[(a)]do[(b)]"),
    ("until a\ndo b\ndone", "until[(a)]do[(b)]"),
    (
        r#"case $x in a|b*) c;; (d) ;; [e]"*") f;& *) g ;;& h) i; esac"#,
        r#"case $x (a b*)Break[(c)] (d)Break[] ([e]+"'*'")FallThrough[(f)] (*)TryNext[(g)] (h)Break[(i)]"#,
    ),
    ("case x in esac", "case x"),
    ("f() { a; }", "function f {(a)}"),
    ("f () ( b ) >c", "function f sub((b)) Write:c"),
    ("function g { a; }", "function g {(a)}"),
    ("function h() { a; }", "function h {(a)}"),
    (
        r#"[[ -f $x && ! ( a == b* || "c" != 'd'* ) ]]"#,
        r#"[[(RegularFile $x && !((a Matches b* || "'c'" DoesNotMatch 'd'+*)))]]"#,
    ),
    ("[[ $x =~ ^(a|b c)+$ ]] && [[ a < b ]]", "[[$x Regex ^(a|b c)+$]] && [[a Before b]]"),
    ("[[ a -eq 1 && $x ]]", "[[(a Equal 1 && NotEmpty $x)]]"),
    ("((x > 1)) && ((y++))", "(((x Greater 1))) && ((y++))"),
    (
        r#"a <x >y >>z >|v <>w 2<u 3>&1 4>&- <&5 &>b &>>c >&d <<<"e f""#,
        r#"(a Read:x Write:y Append:z Clobber:v ReadWrite:w 2Read:u 3DuplicateOutput:1 4DuplicateOutput:- DuplicateInput:5 WriteBoth:b AppendBoth:c WriteBoth:d HereString:"'e f'")"#,
    ),
    ("a 2>/dev/null 1>&2 x2>y", "(a x2 2Write:/dev/null 1DuplicateOutput:2 Write:y)"),
    (
        "cat <<E <<-\"F\" | b\na $x \\$ \\\" \"q\" `c` \\\nk\nE\n\traw $x\nF",
        r#"(cat HereDocument:'a '+$x+' $ \" "q" '+$[(c)]+' '+'k\n' HereDocument:'raw $x\n') | (b)"#,
    ),
    ("cat <<'E'\n$x \\n\nE", r#"(cat HereDocument:'$x \n\n')"#),
    ("x=$(cat <<E\nb\nE\n) y", r#"(x=$[(cat HereDocument:'b\n')] y)"#),
    ("cat <<E\nE", "(cat HereDocument:-)"),
    ("echo a\\\nb {x,y}{1..3} a{b}c", "(echo a+b {x,y}{1..3} a{b}c)"),
    ("# c\na # b\n\nb", "(a); (b)"),
    ("echo a#b # c", "(echo a#b)"),
    ("echo if then { } ! [[ in done", "(echo if then { } ! [[ in done)"),
    ("if\\\n a; then b; fi", "if[(a)]then[(b)]"),
    (r#"echo $'a\n\x41\u00e9\'q\0101' $'\e[0m'"#, "(echo 'a\\nAé'q1' '\u{1b}[0m')"),
    ("{(a)}", "{sub((a))}"),
    ("!a", "(!a)"),
    (r#"find . -name '*.rs' -exec {} \;"#, "(find . -name '*.rs' -exec {} ';')"),
    (r#"echo [a-z]* a?b !x "!""#, r#"(echo [a-z]* a?b !x "'!'")"#),
    ("echo é→b 日本", "(echo é→b 日本)"),
    (r#"x=a{b,c} y="a b" d"#, r#"(x=a{b,c} y="'a b'" d)"#),
    ("test a = b -a ! -f c", "(test a = b -a ! -f c)"),
    ("cat <<A; cat <<B\n1\nA\n2\nB", r#"(cat HereDocument:'1\n'); (cat HereDocument:'2\n')"#),
    ("echo $(cat <<E\n$(cat <<F\nx\nF\n)\nE\n)", r#"(echo $[(cat HereDocument:$[(cat HereDocument:'x\n')]+'\n')])"#),
    (
        "echo $((`x` + 1)) $((1 ? 2 : 3 ? 4 : 5)) $((1<<2>=3)) $((a==b!=c))",
        "(echo $((($[(x)] Add 1))) $(((1 ? 2 : (3 ? 4 : 5)))) $((((1 ShiftLeft 2) GreaterOrEqual 3))) $(((a Equal b NotEqual c))))",
    ),
    (
        "case x in a) b && c; d & ;; *) if e; then f; fi esac",
        "case x (a)Break[(b) && (c); (d) &] (*)Break[if[(e)]then[(f)]]",
    ),
    ("a && # c\nb ||\n # d\nc | # e\nd", "(a) && (b) || (c) | (d)"),
    (">x <y", "(Write:x Read:y)"),
    ("x=1 >y", "(x=1 Write:y)"),
    ("f() if a; then b; fi", "function f if[(a)]then[(b)]"),
    ("( ( a ); ( b ) )", "sub(sub((a)); sub((b)))"),
    ("a=b[c]=d a[b]c", "(a=b[c]=d a[b]c)"),
];

const REFUSED: &[(&str, &str)] = &[
    ("a\0b", r"InvalidCharacter { character: '\0' } 1..2"),
    ("a\rb", r"InvalidCharacter { character: '\r' } 1..2"),
    ("echo a;;", r#"UnexpectedToken { found: "`;;`", expected: "a command" } 6..8"#),
    ("echo )", r#"UnexpectedToken { found: "`)`", expected: "a command" } 5..6"#),
    ("(a", r#"Unterminated("(") 0..1"#),
    (r#"echo "a"#, r#"Unterminated("double quote") 5..6"#),
    ("echo 'b", r#"Unterminated("single quote") 5..6"#),
    ("echo `c", r#"Unterminated("backquote") 5..6"#),
    ("echo $(d", r#"Unterminated("command substitution") 5..7"#),
    ("echo ${e", r#"Unterminated("parameter expansion") 5..7"#),
    ("echo $((f", r#"Unterminated("arithmetic expression") 5..8"#),
    ("cat <<E", r#"Unterminated("here-document") 4..7"#),
    ("a &&", r#"UnexpectedToken { found: "the end", expected: "a command" } 4..4"#),
    ("| a", r#"UnexpectedToken { found: "`|`", expected: "a command" } 0..1"#),
    ("if a; then", r#"Unterminated("if") 0..2"#),
    ("if a; fi", r#"UnexpectedToken { found: "`fi`", expected: "`then`" } 6..8"#),
    ("for 1 in a; do b; done", r#"UnexpectedToken { found: "`1`", expected: "a variable name" } 4..5"#),
    ("for ((;;)); do a; done", r#"Unsupported("the arithmetic `for`") 4..6"#),
    ("case a in b) c", r#"Unterminated("case") 0..4"#),
    ("{ a }", r#"Unterminated("{") 0..1"#),
    ("( )", r#"UnexpectedToken { found: "`)`", expected: "a command" } 2..3"#),
    ("if; then b; fi", r#"UnexpectedToken { found: "`;`", expected: "a command" } 2..3"#),
    ("echo <(a) b", r#"Unsupported("process substitution") 5..7"#),
    ("a > >(b)", r#"Unsupported("process substitution") 4..6"#),
    ("a=(1 2)", r#"Unsupported("an array") 2..3"#),
    ("echo <<<2>a", r#"UnexpectedToken { found: "`2`", expected: "a file name" } 8..9"#),
    ("a; ]]", r#"UnexpectedToken { found: "`]]`", expected: "a command" } 3..5"#),
    ("echo ~:a", r#"Unsupported("a tilde prefix before `:`") 5..7"#),
    ("echo >#a", r#"UnexpectedToken { found: "`#a`", expected: "a file name" } 6..8"#),
    ("cat <<#a", r#"UnexpectedToken { found: "`#a`", expected: "a here-document delimiter" } 6..8"#),
    ("a[ 0]=1", r#"Unsupported("an array") 0..2"#),
    ("a[0]=1", r#"Unsupported("an array") 0..6"#),
    ("echo c=(1)", r#"Unsupported("an array") 7..8"#),
    ("echo ${a[0]} b", r#"Unsupported("an array") 10..11"#),
    ("echo ${!x}", r#"Unsupported("indirect expansion") 7..8"#),
    ("echo ${x@P}", r#"Unsupported("a parameter transformation") 8..9"#),
    ("echo ${x^a}", r#"Unsupported("a pattern of a case change") 9..10"#),
    ("echo $[1+1]", r#"Unsupported("`$[…]` arithmetic") 5..7"#),
    (r#"echo $"a""#, r#"Unsupported("a translated string `$\"…\"`") 5..7"#),
    ("echo ?(a|b)", r#"Unsupported("an extended glob") 5..7"#),
    ("select x in a; do b; done", r#"Unsupported("`select`") 0..6"#),
    ("time a", r#"Unsupported("`time`") 0..4"#),
    ("coproc a", r#"Unsupported("`coproc`") 0..6"#),
    ("{fd}>x", r#"Unsupported("a named file descriptor") 0..5"#),
    ("99999999999999999999>x", r#"InvalidFileDescriptor("99999999999999999999") 0..20"#),
    ("2>&99999999999999999999", r#"InvalidFileDescriptor("99999999999999999999") 3..23"#),
    (">&$x", r#"Unsupported("a file descriptor that is known only when the program runs") 2..4"#),
    ("<&f", r#"InvalidFileDescriptor("f") 2..3"#),
    ("f() a", r#"UnexpectedToken { found: "`a`", expected: "a compound command" } 4..5"#),
    ("a() b() { c; }", r#"UnexpectedToken { found: "`b`", expected: "a compound command" } 4..5"#),
    ("then", r#"UnexpectedToken { found: "`then`", expected: "a command" } 0..4"#),
    ("echo a >", r#"UnexpectedToken { found: "the end", expected: "a file name" } 8..8"#),
    ("echo $((1+))", r#"BadArithmetic("a number or a variable was expected") 10..11"#),
    ("echo $((a[1]))", r#"Unsupported("an array") 9..10"#),
    (
        "echo $((1 2))",
        r#"BadArithmetic("an operator or `))` was expected; a subshell after `(` or `$(` needs a blank between the parentheses") 10..11"#,
    ),
    (
        "$((a) | b)",
        r#"BadArithmetic("an operator or `))` was expected; a subshell after `(` or `$(` needs a blank between the parentheses") 4..5"#,
    ),
    (
        "((a); (b))",
        r#"BadArithmetic("an operator or `))` was expected; a subshell after `(` or `$(` needs a blank between the parentheses") 3..4"#,
    ),
    ("echo $((08))", r#"BadArithmetic("not a number of 64 bits in its base") 8..10"#),
    ("echo ${x!}", r#"BadSubstitution("an operator or `}` was expected") 8..9"#),
    ("echo ${}", r#"BadSubstitution("a name, a number or one of `@*#?-$!` must follow") 7..8"#),
    ("echo ${ x}", r#"BadSubstitution("a name, a number or one of `@*#?-$!` must follow") 7..8"#),
    ("[[ a", r#"Unterminated("`[[`") 0..2"#),
    ("[[ a b ]]", r#"UnexpectedToken { found: "`b`", expected: "an operator of `[[ ]]`" } 5..6"#),
    ("[[ -k a ]]", r#"Unsupported("this test of `[[ ]]`") 3..6"#),
    ("[[ ]]", r#"UnexpectedToken { found: "`]]`", expected: "a test" } 3..5"#),
    (r#"echo \"#, r#"Unterminated("escape") 5..6"#),
    ("ec\\\nho a", r#"Unsupported("a line continuation inside the name of a command") 0..6"#),
    ("2\\\n>x", r#"Unsupported("a line continuation in a redirection") 0..4"#),
    ("cat <<EOF\na\nEO\\\nF\nEOF", r#"Unsupported("a line continuation in the last line of a here-document") 12..17"#),
    ("$\\\nx", r#"Unsupported("a line continuation after `$`") 0..2"#),
    ("~1", r#"Unsupported("the directory stack") 0..2"#),
    ("i\\\nf a; then b; fi", r#"Unsupported("a line continuation inside the name of a command") 0..4"#),
    ("a; ; b", r#"UnexpectedToken { found: "`;`", expected: "a command" } 3..4"#),
    ("a & ; b", r#"UnexpectedToken { found: "`;`", expected: "a command" } 4..5"#),
    (r#"echo "$(""#, r#"Unterminated("double quote") 8..9"#),
    ("e <<$x", r#"Unsupported("an expansion in a here-document delimiter") 4..5"#),
    ("{ a; } b", r#"UnexpectedToken { found: "`b`", expected: "a command" } 7..8"#),
    ("(a) b", r#"UnexpectedToken { found: "`b`", expected: "a command" } 4..5"#),
    ("a b()", r#"UnexpectedToken { found: "`(`", expected: "an operator or a line end" } 3..4"#),
    ("cat <<E $(a\nb)\nE", r#"Unsupported("a line break in a substitution on the line of a here-document") 11..12"#),
    ("$(\\\n(a))", r#"Unsupported("a line continuation in `$((`") 0..4"#),
    ("cat <<E\n${x:-\"a\"}\nE", r#"Unsupported("a double quote in an expansion of a here-document") 13..14"#),
];
