#!/bin/sh
# Checks the evidence of a signed package with OpenSSL, layer by layer. Sealstone is not needed.
#
# usage: sh check.sh [--root DIR] [--signer FINGERPRINT]... [--hmac-key FILE] [--secret FILE]
#                    [--tsa-roots FILE]
#
#   --root DIR            where the signed files are
#   --signer FINGERPRINT  a signer that you know and require
#   --hmac-key FILE       the shared key of layer 2
#   --secret FILE         the secret of layer 5
#   --tsa-roots FILE      certificates in PEM that you trust for timestamps, instead of root.pem
#
# Exit status: 0 all layers hold; 1 a layer is bad; 2 wrong usage; 3 no layer is bad, but one was
# not checked. OPENSSL=/path names another OpenSSL: 3.0 or later, 3.5 or later for ML-DSA-65.
set -u
LC_ALL=C
export LC_ALL
umask 077

openssl=${OPENSSL:-openssl}
here=$(dirname -- "$0")
tmp=${TMPDIR:-/tmp}/check-package.$$
root='' hmac_key='' secret='' tsa_roots='' wanted=''
bad=0 unchecked=0

main() {
    options "$@"
    "$openssl" version >/dev/null 2>&1 || usage "no OpenSSL: $openssl"
    mkdir "$tmp" || exit 2
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 2' HUP INT TERM
    od -An -v -tx1 "$here/manifest.cbor" | awk "$decoder" >"$tmp/manifest"
    digest=$("$openssl" dgst -sha3-512 -binary <"$here/manifest.cbor" | hex)
    tag=$(optional hmac.tag) confirmation=$(optional keys.confirmation)
    head=$(flags)$digest$tag$confirmation
    content
    hmac_layer
    signatures
    keys_layer
    timestamps
    signers
    case $bad$unchecked in
        00) echo "GOOD: all layers hold. The signers are yours to judge." ;;
        01) echo "NOT COMPLETE: no layer is bad, but one was not checked." && exit 3 ;;
        *) echo "BAD" && exit 1 ;;
    esac
}

options() {
    while [ $# -gt 0 ]; do
        [ $# -gt 1 ] || usage "$1 needs a value, or is no option"
        case $1 in
            --root) root=$2 ;;
            --signer) wanted="$wanted $(printf '%s' "$2" | tr -d -- '- \n' | tr A-F a-f)" ;;
            --hmac-key) hmac_key=$2 ;;
            --secret) secret=$2 ;;
            --tsa-roots) tsa_roots=$2 ;;
            *) usage "unknown option $1" ;;
        esac
        shift 2
    done
    case $root in '' | /* | ./*) ;; *) root=./$root ;; esac
    [ -z "$root" ] || [ -d "$root" ] || usage "not a directory: $root"
    for file in "$hmac_key" "$secret" "$tsa_roots"; do
        [ -z "$file" ] || [ -r "$file" ] || usage "cannot read $file"
    done
}

usage() {
    echo "check.sh: $1" >&2
    sed -n '4,5s/^# //p' "$0" >&2
    exit 2
}

# One line for a layer: number, name, verdict, reason. A required layer must not be absent.
report() {
    verdict=$3 reason=$4
    if [ "$verdict" = absent ] && grep -q "^required $1\$" "$tmp/manifest"; then
        verdict=bad reason="the signer requires it"
    fi
    printf '%s %-10s %-9s %s\n' "$1" "$2" "$verdict" "$reason" | tr -d '\000-\011\013-\037\177'
    case $verdict in
        bad) bad=1 ;;
        unchecked) unchecked=1 ;;
    esac
}

hex() { od -An -v -tx1 | tr -d ' \n'; }
sha3_256() { "$openssl" dgst -sha3-256 -binary | hex; }
slice() { printf '%s\n' "$1" | cut -c "$2"; }
field() { sed -n "s/^$1 //p" "$tmp/manifest"; }
zeros() { printf '%064d' 0; }

# The 32 bytes of a part that a package may lack.
optional() {
    if [ -f "$here/$1" ]; then hex <"$here/$1"; else zeros; fi
}

flags() {
    number=0
    [ ! -f "$here/hmac.tag" ] || number=$((number + 1))
    [ ! -f "$here/keys.confirmation" ] || number=$((number + 2))
    printf '%02x' "$number"
}

# Layer 1: policy, list, embedded files, files below the root.
content() {
    : >"$tmp/findings" && : >"$tmp/unchecked"
    if ! grep -q '^end$' "$tmp/manifest"; then
        report 1 content bad "the manifest is malformed" && return
    fi
    policy=$(field policy) found=''
    [ ! -f "$here/policy.json" ] || found=$(sha3_256 <"$here/policy.json")
    [ "$policy" = "$found" ] || echo "policy.json: altered" >>"$tmp/findings"
    awk '/^(file|embedded) / { sub(/^[a-z]+ /, ""); size = $1; sub(/^[0-9]+ /, ""); print }' \
        "$tmp/manifest" | sed 's/ /  /' >"$tmp/list"
    cmp -s "$tmp/list" "$here/files.txt" || echo "files.txt: not what is signed" >>"$tmp/findings"
    while read -r kind size rest; do
        case $kind in
            file | embedded) entry "$kind" "$size" "${rest%% *}" "${rest#* }" ;;
            link) link "$rest" "$size" ;;
        esac
    done <"$tmp/manifest"
    additional
    count=$(grep -c -E '^(file|embedded|link) ' "$tmp/manifest")
    if [ -s "$tmp/findings" ]; then
        sed 's/^/  /' "$tmp/findings" | tr -d '\000-\011\013-\037\177'
        report 1 content bad "$(grep -c '' "$tmp/findings") finding(s)"
    elif [ -s "$tmp/unchecked" ]; then
        report 1 content unchecked "$(cat "$tmp/unchecked")"
    else
        report 1 content good "$count file(s)"
    fi
}

# A file of the manifest: kind, size, digest, path.
entry() {
    if [ ${#3} -eq 128 ]; then
        echo "OpenSSL has no Skein: sealstone hash -c files.txt, or by spec/tree.md" >"$tmp/unchecked"
        return
    fi
    [ "$1" = file ] || same "$here/content" "$2" "$3" "$4"
    if [ -z "$root" ]; then
        [ "$1" = embedded ] || echo "say where the files are: --root DIR" >"$tmp/unchecked"
    elif [ "$1" = file ] || [ -e "$root/$4" ] || [ -h "$root/$4" ]; then
        same "$root" "$2" "$3" "$4"
    fi
}

# Compares a file below a directory: directory, size, digest, path. No link is followed.
same() {
    if through_link "$1" "$4" || [ -h "$1/$4" ]; then
        echo "$4: a link" >>"$tmp/findings"
    elif [ ! -f "$1/$4" ]; then
        echo "$4: missing, or no file" >>"$tmp/findings"
    elif [ "$(wc -c <"$1/$4")" -ne "$2" ] || [ "$(sha3_256 <"$1/$4")" != "$3" ]; then
        echo "$4: altered" >>"$tmp/findings"
    fi
}

# Compares the target of a link: path, number of its line in the manifest's targets.
link() {
    [ -n "$root" ] || return 0
    target=$(sed -n "s/^target $2 //p" "$tmp/manifest")
    if through_link "$root" "$1" || [ ! -h "$root/$1" ]; then
        echo "$1: not a link" >>"$tmp/findings"
    elif [ "$(readlink "$root/$1")" != "$target" ]; then
        echo "$1: leads elsewhere" >>"$tmp/findings"
    fi
}

# Whether a directory on the way from $1 to $2 is a link.
through_link() {
    below=${2%/*}
    while [ "$below" != "$2" ]; do
        [ ! -h "$1/$below" ] || return 0
        [ "$below" != "${below%/*}" ] || return 1
        below=${below%/*}
    done
    return 1
}

# Files below the root that the manifest of a whole directory does not name.
additional() {
    [ -n "$root" ] && [ "$(field complete)" = 1 ] || return 0
    sed -n -E 's/^(file|embedded) [0-9]+ [0-9a-f]+ //p; s/^link [0-9]+ //p' "$tmp/manifest" |
        sort >"$tmp/named"
    (cd "$root" && find . ! -type d -print | sed 's|^\./||' | sort) >"$tmp/found"
    comm -13 "$tmp/named" "$tmp/found" >"$tmp/more"
    while IFS= read -r path; do
        # The package itself may be there.
        [ "$(sha3_256 <"$root/$path")" = "$(cat "$here/package.sha3-256")" ] ||
            echo "$path: additional" >>"$tmp/findings"
    done <"$tmp/more"
}

# HMAC-SHA3-256 of standard input under a key of 32 bytes, $1 in hexadecimal. OpenSSL takes such a
# key only as an argument, which other users could see; so this is RFC 2104 with the hash alone.
hmac() {
    { padded "$1" 3 6 && cat; } | "$openssl" dgst -sha3-256 -binary >"$tmp/inner"
    { padded "$1" 5 c && cat "$tmp/inner"; } | sha3_256
}

# The key as a block of 136 bytes, each byte XOR the two digits.
padded() {
    awk -v high="$2" -v low="$3" "$xor" <<KEY | "$openssl" asn1parse -genconf /dev/stdin -noout \
        -out /dev/stdout | tail -c 136
$1
KEY
}

hmac_layer() {
    if [ ! -f "$here/hmac.tag" ]; then
        report 2 hmac absent "the package has no HMAC"
    elif [ -z "$hmac_key" ]; then
        report 2 hmac unchecked "give the key: --hmac-key FILE"
    else
        prk=$(extract sealstone.package.hmac.v1 <"$hmac_key")
        message=$("$openssl" dgst -sha3-512 -binary <"$here/manifest.cbor" | hmac "$prk")
        right 2 hmac "$message" "$tag"
    fi
}

# Extract of HKDF: the salt is public.
extract() { "$openssl" dgst -sha3-256 -mac HMAC -macopt "key:$1" -binary | hex; }

right() {
    if [ "$3" = "$4" ]; then
        report "$1" "$2" good "made with this key"
    else
        report "$1" "$2" bad "made with another key, or altered"
    fi
}

keys_layer() {
    if [ ! -f "$here/keys.confirmation" ]; then
        report 5 keys absent "no keys are derived"
    elif [ -z "$secret" ]; then
        report 5 keys unchecked "give the secret: --secret FILE"
    else
        policy=$(field policy)
        info=$(printf confirmation | hex)$digest${policy:-$(zeros)}01
        if [ "$(hex <"$here/keys.message")" != "$info" ]; then
            report 5 keys bad "keys.message is not of this manifest and policy"
        else
            prk=$(extract sealstone.package.keys.v1 <"$secret")
            right 5 keys "$(hmac "$prk" <"$here/keys.message")" "$confirmation"
        fi
    fi
}

# Layers 3 and 4: what was signed, by which key, and the signatures.
signatures() {
    count=0 classical='' post_quantum='' needs=''
    : >"$tmp/signed"
    while [ -d "$here/signature-$((count + 1))" ]; do
        count=$((count + 1))
        one="$here/signature-$count"
        why=$(wrong_message "$one")
        pair "$one" ed25519 302a300506032b6570032100 129-192
        [ -z "$why$other" ] && verify "$one" ed25519 || classical="$classical $count"
        pair "$one" ml-dsa-65 308207b2300b0609608648016503040312038207a100 257-320
        if [ -n "$why$other" ]; then
            post_quantum="$post_quantum $count"
        elif ! "$openssl" list -signature-algorithms 2>/dev/null | grep -q -i 'ML-DSA-65'; then
            needs="not checked: needs OpenSSL 3.5, this is $("$openssl" version)"
        else
            verify "$one" ml-dsa-65 -pkeyopt context-string:sealstone.package.v1 ||
                post_quantum="$post_quantum $count"
        fi
        message=$(hex <"$one/framed")
        echo "$(slice "$message" 43-44) $(slice "$message" 61-124)" >>"$tmp/signed"
        [ -z "$why" ] || echo "  signature $count: $why"
    done
    [ "$count" -gt 0 ] || classical=none post_quantum=none
    signature_layer 3 ed25519 "$classical" ''
    signature_layer 4 ml-dsa-65 "$post_quantum" "$needs"
}

signature_layer() {
    if [ -n "$3" ]; then
        report "$1" "$2" bad "wrong:$3"
    elif [ -n "$4" ]; then
        report "$1" "$2" unchecked "$4"
    else
        report "$1" "$2" good "$count signature(s)"
    fi
}

# Says why the signed message of a signature is not about this package, if so.
wrong_message() {
    message=$(hex <"$1/framed")
    prior=$(zeros)$(zeros)
    [ ! -f "$1/prior.cbor" ] || prior=$("$openssl" dgst -sha3-512 -binary <"$1/prior.cbor" | hex)
    domain=$(printf 'sealstone.package.v1' | hex)00
    if [ "$message" != "$domain$(slice "$message" 43-124)$head$prior" ]; then
        echo "the signed message is not of this manifest, tag and confirmation"
    elif [ "$(slice "$message" 61-124)" != "$(sha3_256 <"$1/fingerprint.input")" ]; then
        echo "the signed message names another fingerprint"
    fi
}

# Sets other if a key is not the one that the fingerprint is computed from.
pair() {
    other=''
    key=$(sed '/^-----/d' "$1/$2.pem" | "$openssl" base64 -d | hex)
    input=$(hex <"$1/fingerprint.input")
    # The input is 25 bytes of domain and five digests.
    found=$(sed '/^-----/d' "$1/$2.pem" | "$openssl" base64 -d | tail -c "+$((${#3} / 2 + 1))" | sha3_256)
    case $key in "$3"*) ;; *) other=kind ;; esac
    [ "$(printf '%s\n' "$input" | cut -c 51- | cut -c "$4")" = "$found" ] || other=key
}

verify() {
    one=$1 name=$2
    shift 2
    "$openssl" pkeyutl -verify -pubin -inkey "$one/$name.pem" -rawin -in "$one/framed" \
        -sigfile "$one/$name.sig" "$@" >/dev/null 2>&1
}

# Layer 6: the responses over head and signatures; each holds at the time of the next one.
timestamps() {
    stamps=0 why=''
    while [ -d "$here/timestamp-$((stamps + 1))" ]; do stamps=$((stamps + 1)); done
    if [ "$stamps" -eq 0 ]; then
        report 6 timestamp absent "the package has no timestamp" && return
    fi
    if [ -z "$tsa_roots" ] && [ ! -f "$here/timestamp-1/root.pem" ]; then
        report 6 timestamp unchecked "give roots that you trust: --tsa-roots FILE" && return
    fi
    later='' number=$stamps
    while [ "$number" -gt 0 ]; do
        one="$here/timestamp-$number"
        stamp "$one" || why="timestamp $number: $why"
        [ -z "$why" ] || break
        later=$genuine number=$((number - 1))
    done
    if [ -n "$why" ]; then
        report 6 timestamp bad "$why"
    else
        report 6 timestamp good "$stamps timestamp(s), the first one of $moment"
    fi
}

# Checks one; sets why, and its time as seconds (genuine, latest) and text (moment).
stamp() {
    stamped=$(hex <"$1/stamped")
    why=$(wrong_stamp "$1")
    [ -z "$why" ] || return 1
    set -- "$1" -CAfile "${tsa_roots:-$1/root.pem}"
    [ ! -f "$1/chain.pem" ] || set -- "$@" -untrusted "$1/chain.pem"
    [ -z "$later" ] || set -- "$@" -attime "$later"
    one=$1
    shift
    if ! "$openssl" ts -verify -in "$one/response.tsr" -data "$one/stamped" "$@" \
        >"$tmp/ts" 2>&1; then
        why="OpenSSL refuses it: $(tail -n 1 "$tmp/ts")" && return 1
    fi
    "$openssl" ts -reply -in "$one/response.tsr" -text >"$tmp/text" 2>/dev/null
    moment=$(sed -n 's/^Time stamp: //p' "$tmp/text")
    times=$(awk "$clock" "$tmp/text")
    genuine=${times% *} latest=${times#* }
    if [ -n "$later" ] && [ "$genuine" -gt "$later" ]; then
        why="later than the next one" && return 1
    fi
    why=$(late_signature)
    [ -z "$why" ]
}

# Says why a stamped message is not about this package, if so. It begins with a domain of 31 bytes
# and the head of 129; the array of the signatures follows.
wrong_stamp() {
    domain=$(printf 'sealstone.package.timestamp.v1' | hex)00
    if [ "$(sha3_256 <"$1/response.tsr")" != "$(cat "$1/response.sha3-256")" ]; then
        echo "response.tsr was altered"
    elif [ "$(slice "$stamped" 1-320)" != "$domain$head" ]; then
        echo "stamped is not of this manifest, tag and confirmation"
    else
        covers=$(covered)
        [ "$number" -ne "$stamps" ] || [ "$covers" -ge "$(grep -c '^00' "$tmp/signed")" ] ||
            echo "a signature is not covered"
        parts "$covers" $((number - 1)) | awk "$in_order"
    fi
}

# What the stamped message has to contain, a line for each file, after the message itself.
parts() {
    echo "$stamped"
    for place in $(numbers "$1"); do
        for kind in ed25519 ml-dsa-65; do
            echo "$(hex <"$here/signature-$place/$kind.sig") signature $place"
        done
    done
    for place in $(numbers "$2"); do
        echo "$(hex <"$here/timestamp-$place/response.tsr") timestamp $place"
    done
}

# How many signatures the stamped message has: the length of a CBOR array.
covered() {
    case $(slice "$stamped" 321-322) in
        98) printf '%d\n' "0x$(slice "$stamped" 323-324)" ;;
        *) printf '%d\n' "$((0x$(slice "$stamped" 321-322) - 128))" ;;
    esac
}

numbers() { awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print i }'; }

# A covered signature that claims to be made more than 300 seconds after its proved time.
late_signature() {
    for place in $(numbers "$(covered)"); do
        claimed=$((0x$(slice "$(hex <"$here/signature-$place/framed")" 45-60)))
        [ "$claimed" -le $((latest + 300)) ] || echo "signature $place claims a later time"
    done
}

# Those who signed, and whether they are enough and the wanted ones.
signers() {
    while read -r role fingerprint; do
        case $role in
            00) what=signer && grep -q "^signer $fingerprint\$" "$tmp/manifest" || what=stranger ;;
            *) what=counter-signer ;;
        esac
        [ $what != stranger ] || bad=1
        echo "$what $(printf '%s\n' "$fingerprint" | sed 's/..../&-/g; s/-$//')"
    done <"$tmp/signed"
    have=$(grep '^00' "$tmp/signed" | sort -u | grep -c '')
    need=$(field threshold)
    if [ "$have" -lt "${need:-1}" ]; then
        echo "too few signers: $have of ${need:-1}" && bad=1
    fi
    for fingerprint in $wanted; do
        grep -q "^00 $fingerprint\$" "$tmp/signed" || {
            echo "not signed by $fingerprint" && bad=1
        }
    done
}

# Prints the fields of a manifest (CBOR), one a line, from the bytes in hexadecimal.
# shellcheck disable=SC2016
decoder='
function stop() { print "malformed"; exit }
function byte() {
    while (at >= NF) { if ((getline) < 1) stop(); at = 0 }
    return $(++at)
}
function head(   n, info, i) {
    n = value[byte()]; major = int(n / 32); info = n % 32
    if (info < 24) return info
    if (info > 27) stop()
    n = 0
    for (i = 2 ^ (info - 24); i > 0; i--) n = n * 256 + value[byte()]
    return n
}
function want(kind,   n) { n = head(); if (major != kind) stop(); return n }
function digits(   n, s) { for (n = want(2); n > 0; n--) s = s byte(); return s }
function bytes(n,   s) { for (; n > 0; n--) s = s letter[byte()]; return s }
function number() { return sprintf("%.0f", want(0)) }
function entry(   path, kind, size) {
    if (want(4) != 6) stop()
    path = bytes(want(3)); kind = want(0); size = number()
    if (path ~ /(^|\/)\.?\.?(\/|$)/ || path ~ /[\001-\037\177\\]/) stop()
    if (kind == 2) { print "link", ++links, path; print "target", links, bytes(want(2)) }
    else if (kind < 2) print (kind ? "embedded" : "file"), size, digits(), path
    else stop()
    bytes(want(3)); number()
}
BEGIN {
    for (i = 0; i < 256; i++) {
        letter[sprintf("%02x", i)] = sprintf("%c", i); value[sprintf("%02x", i)] = i
    }
    split("version,,threshold,,time,,digest,complete", name, ",")
    for (fields = want(5); fields > 0; fields--) {
        key = want(0)
        if (key == 1) for (n = want(4); n > 0; n--) print "signer", digits()
        else if (key == 3) for (n = want(4); n > 0; n--) print "required", number()
        else if (key == 5) print "author", bytes(want(3))
        else if (key == 8) for (n = want(4); n > 0; n--) entry()
        else if (key == 9) print "policy", digits()
        else if (key == 10) print "metadata", bytes(want(3))
        else if (key < 8) print name[key + 1], number()
        else stop()
    }
    print (at < NF || (getline) > 0) ? "malformed" : "end"
}'

# shellcheck disable=SC2016
xor='
BEGIN {
    table["3"] = "32107654ba98fedc"; table["6"] = "67452301efcdab89"
    table["5"] = "54761032dcfe98ba"; table["c"] = "cdef89ab45670123"
}
function digit(c, by) { return substr(table[by], index("0123456789abcdef", c), 1) }
{
    for (i = 1; i <= 272; i += 2) {
        high_digit = i > length($0) ? "0" : substr($0, i, 1)
        low_digit = i > length($0) ? "0" : substr($0, i + 1, 1)
        block = block digit(high_digit, high) digit(low_digit, low)
    }
    print "asn1=FORMAT:HEX,OCTETSTRING:" block
}'

# shellcheck disable=SC2016
in_order='
NR == 1 { rest = $0; next }
{
    at = NF == 3 ? index(rest, $1) : 0
    if (!at) { print $(NF - 1), $NF, "is another"; exit }
    rest = substr(rest, at + length($1))
}'

# The time of a response in seconds since 1970, and the latest moment that its accuracy allows.
# shellcheck disable=SC2016
clock='
function amount(text) {
    sub(/ .*/, "", text)
    if (text !~ /^0x/) return text + 0
    for (text = tolower(substr(text, 3)); text != ""; text = substr(text, 2))
        n = n * 16 + index("0123456789abcdef", substr(text, 1, 1)) - 1
    return n
}
/^Time stamp: / {
    month = (index("JanFebMarAprMayJunJulAugSepOctNovDec", $3) + 2) / 3
    split($5, time, ":"); year = $6
    if (month < 3) { year--; month += 12 }
    days = 365 * year + int(year / 4) - int(year / 100) + int(year / 400)
    days += int((153 * (month - 3) + 2) / 5) + $4 - 1 - 719468
    seconds = days * 86400 + time[1] * 3600 + time[2] * 60 + int(time[3])
    more = time[3] > int(time[3])
}
/^Accuracy: / {
    n = 0
    split(substr($0, 11), part, ", ")
    if (part[1] ~ /^(0x)?[0-9]/) more += amount(part[1])
    if (part[2] ~ /^(0x)?[0-9]/ || part[3] ~ /^(0x)?[0-9]/) more++
}
END { printf "%.0f %.0f\n", seconds, seconds + more }'

main "$@"
