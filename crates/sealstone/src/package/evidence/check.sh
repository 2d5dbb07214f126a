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
# not checked. OPENSSL=/path names another OpenSSL: 3.0 or later. ML-DSA-65 needs 3.5 or later; with
# an older one, python3 with the package cryptography 48 or later checks it (PYTHON=/path names it).
#
# How it works: bytes that were signed, or that a digest or a timestamp covers, are put together
# again from the parts (in hexadecimal) and compared with the file that OpenSSL checks.
set -u
LC_ALL=C
export LC_ALL
umask 077

openssl=${OPENSSL:-openssl} python=${PYTHON:-python3} here=$(cd -- "$(dirname -- "$0")" && pwd)
tmp=${TMPDIR:-/tmp}/check-package.$$
root='' hmac_key='' secret='' tsa_roots='' wanted='' bad=0 unchecked=0

main() {
    options "$@"
    "$openssl" version >/dev/null 2>&1 || usage "no OpenSSL: $openssl"
    mkdir "$tmp" || exit 2
    trap 'rm -rf "$tmp"' EXIT
    trap 'exit 2' HUP INT TERM
    hex <"$here/manifest.cbor" | awk "$decode" >"$tmp/manifest"
    digest=$(sha3 512 <"$here/manifest.cbor")
    tag=$(optional hmac.tag 1) confirmation=$(optional keys.confirmation 2)
    flags=$((${tag%% *} + ${confirmation%% *})) tag=${tag#* } confirmation=${confirmation#* }
    head=$(printf '%02x' $flags)$digest$tag$confirmation
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
        [ $# -gt 1 ] || usage "$1 needs a value, or is not an option"
        case $1 in
            --root) root=$(cd -- "$2" 2>/dev/null && pwd) || usage "not a directory: $2" ;;
            --signer) wanted="$wanted $(printf '%s' "$2" | tr -d -- '- \n' | tr A-F a-f)" ;;
            --hmac-key) hmac_key=$2 ;;
            --secret) secret=$2 ;;
            --tsa-roots) tsa_roots=$2 ;;
            *) usage "unknown option $1" ;;
        esac
        shift 2
    done
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
sha3() { "$openssl" dgst "-sha3-$1" -binary | hex; }
slice() { printf '%s\n' "$1" | cut -c "$2"; }
field() { sed -n "s/^$1 //p" "$tmp/manifest"; }
zeros() { printf '%064d' 0; }

# A part of 32 bytes that a package may lack: its flag and the bytes.
optional() {
    if [ -f "$here/$1" ]; then echo "$2 $(hex <"$here/$1")"; else echo "0 $(zeros)"; fi
}

# The head of a CBOR item: major type (times 32), number.
cbor() {
    if [ "$2" -lt 24 ]; then printf '%02x' $(($1 + $2))
    elif [ "$2" -lt 256 ]; then printf '%02x%02x' $(($1 + 24)) "$2"
    elif [ "$2" -lt 65536 ]; then printf '%02x%04x' $(($1 + 25)) "$2"
    elif [ "$2" -lt 4294967296 ]; then printf '%02x%08x' $(($1 + 26)) "$2"
    else printf '%02x%016x' $(($1 + 27)) "$2"
    fi
}

# Layer 1: the policy, the list, embedded files, files below the root.
content() {
    if ! grep -q '^end$' "$tmp/manifest"; then
        report 1 content bad "the manifest is malformed" && return
    fi
    found=''
    [ ! -f "$here/policy.json" ] || found=$(sha3 256 <"$here/policy.json")
    {
        [ "$(field policy)" = "$found" ] || echo "policy.json: altered"
        sed -n -E 's/^(file|embedded) ([0-9a-f]{64,}) \.\//\2  /p' "$tmp/manifest" |
            cmp -s - "$here/files.txt" || echo "files.txt: differs from the signed list"
        [ "$(field digest)" = 1 ] || (files)
    } >"$tmp/findings"
    if [ -s "$tmp/findings" ]; then
        sed 's/^/  /' "$tmp/findings" | tr -d '\000-\011\013-\037\177'
        report 1 content bad "$(grep -c '' "$tmp/findings") finding(s)"
    elif [ "$(field digest)" = 1 ]; then
        report 1 content unchecked \
            "OpenSSL has no Skein: sealstone hash -c files.txt, or by spec/tree.md"
    elif [ -z "$root" ] && grep -q -E '^(file|link|complete 1)' "$tmp/manifest"; then
        report 1 content unchecked "say where the files are: --root DIR"
    else
        report 1 content good "$(grep -c '^name ' "$tmp/manifest") file(s)"
    fi
}

# Prints a line for each file that is not what the manifest says. No link is followed.
files() {
    field embedded | sort >"$tmp/want"
    [ ! -s "$tmp/want" ] || (cd "$here/content" 2>/dev/null && differences) || echo "content: missing"
    [ -n "$root" ] && cd "$root" || return 0
    find . >"$tmp/all" || echo "--root: cannot be read whole"
    # An embedded file need not be there, but must not be another one.
    field embedded | awk 'NR == FNR { there[$0]; next }
        { path = $0; sub(/^[^ ]* /, "", path); if (path in there) print }' "$tmp/all" - >"$tmp/want"
    { field file && field link; } | sort - "$tmp/want" >"$tmp/want.all"
    mv "$tmp/want.all" "$tmp/want"
    differences
    [ "$(field complete)" = 1 ] || return 0
    field name | sort >"$tmp/names"
    find . ! -type d | sort | comm -23 - "$tmp/names" >"$tmp/more"
    # The package itself may be there.
    package=$(cat "$here/package.sha3-256")
    comm -12 "$tmp/regular" "$tmp/more" | tr '\n' '\0' | digests | sed -n "s/^$package //p" |
        sort | comm -23 "$tmp/more" - | sed 's|^\./||; s/$/: additional/'
}

# Compares digests, lengths and targets of links below this directory with the lines in want.
differences() {
    find . -type f | sort >"$tmp/regular"
    sed -n 's/^[0-9a-f][0-9a-f]* //p' "$tmp/want" | sort -u | comm -12 "$tmp/regular" - |
        tr '\n' '\0' >"$tmp/paths"
    {
        digests <"$tmp/paths"
        xargs -0 wc -c <"$tmp/paths" | sed 's/^ *//'
        find . -type l -exec sh -c 'for link; do
            { printf "%s -> " "$link"; readlink -n "$link"; } | tr "\n" "?"; echo
        done' - {} +
    } 2>/dev/null | sort | comm -23 "$tmp/want" - |
        sed 's/^[0-9a-f]* //; s|^\./||; s/$/: missing or altered/' | sort -u
}

digests() { xargs -0 "$openssl" dgst -sha3-256 -r 2>/dev/null | sed 's/ \*/ /'; }

# HMAC is the extraction of HKDF (RFC 5869). A key that is secret is read from standard input,
# because other users can see arguments; the salt is public.
extract() { "$openssl" dgst -sha3-256 -mac HMAC -macopt "key:$1" -binary | hex; }
hkdf() { "$openssl" pkeyutl -kdf HKDF -kdflen 32 -pkeyopt md:SHA3-256 "$@" | hex; }

hmac_layer() {
    if [ ! -f "$here/hmac.tag" ]; then
        report 2 hmac absent "the package has no HMAC"
    elif [ -z "$hmac_key" ]; then
        report 2 hmac unchecked "give the key: --hmac-key FILE"
    else
        set -- -pkeyopt mode:EXTRACT_ONLY -pkeyopt_passin hexsalt:stdin -pkeyopt "hexkey:$digest"
        right 2 hmac "$tag" "$(extract sealstone.package.hmac.v1 <"$hmac_key" | hkdf "$@")"
    fi
}

keys_layer() {
    if [ ! -f "$here/keys.confirmation" ]; then
        report 5 keys absent "no keys are derived"
    elif [ -z "$secret" ]; then
        report 5 keys unchecked "give the secret: --secret FILE"
    else
        policy=$(field policy)
        info=$(printf confirmation | hex)$digest${policy:-$(zeros)}
        set -- -pkeyopt mode:EXPAND_ONLY -pkeyopt_passin hexkey:stdin -pkeyopt "hexinfo:$info"
        right 5 keys "$confirmation" "$(extract sealstone.package.keys.v1 <"$secret" | hkdf "$@")"
    fi
}

right() {
    if [ "$3" = "$4" ]; then
        report "$1" "$2" good "made with this key"
    else
        report "$1" "$2" bad "made with another key, or altered"
    fi
}

# Layers 3 and 4: what was signed, by which keys, and the signatures.
signatures() {
    count=0 classical='' post_quantum='' needs=''
    : >"$tmp/signed" && : >"$tmp/first-0"
    if "$openssl" list -signature-algorithms 2>/dev/null | grep -q -i ML-DSA-65; then
        post_quantum_verify() {
            verify ml-dsa-65 -pkeyopt context-string:sealstone.package.v1
        }
    elif "$python" -I -c "$ml_dsa" </dev/null >/dev/null 2>&1; then
        post_quantum_verify() {
            "$python" -I -c "$ml_dsa" "$one/ml-dsa-65.pem" "$one/ml-dsa-65.sig" "$one/framed" \
                </dev/null >/dev/null 2>&1
        }
    else
        needs="needs OpenSSL 3.5 (OPENSSL=/path), or python3 with the package cryptography 48 \
(PYTHON=/path); this is $("$openssl" version | cut -d' ' -f1,2)"
    fi
    while [ -d "$here/signature-$((count + 1))" ]; do
        count=$((count + 1))
        one=$here/signature-$count
        message=$(hex <"$one/framed") input=$(hex <"$one/fingerprint.input")
        [ ${#message} -eq 510 ] || message=$(printf '%0510d' 0)
        role=$(slice "$message" 43-44) time=$(slice "$message" 45-60) why=$(wrong_message)
        [ -z "$why" ] || echo "  signature $count: $why"
        key ed25519 302a300506032b6570032100 179-242 && [ -z "$why" ] &&
            verify ed25519 || classical="$classical $count"
        ed25519=$key
        key ml-dsa-65 308207b2300b0609608648016503040312038207a100 307-370 && [ -z "$why" ] &&
            { [ -n "$needs" ] || post_quantum_verify; } ||
            post_quantum="$post_quantum $count"
        echo "$role $(slice "$message" 61-124) $((0x$time))" >>"$tmp/signed"
        # As it stands in the package; the fingerprint's input has digests of the other keys.
        {
            cat "$tmp/first-$((count - 1))"
            printf '%s' "85$role$(cbor 0 $((0x$time)))85"
            printf '5820%s' "$(slice "$input" 51-114)" "$(slice "$input" 115-178)" "$ed25519" \
                "$(slice "$input" 243-306)"
            printf '%s' "5907a0${key}5840$(hex <"$one/ed25519.sig")"
            printf '%s' "590ced$(hex <"$one/ml-dsa-65.sig")"
        } >"$tmp/first-$count"
    done
    [ "$count" -gt 0 ] || classical=' none' post_quantum=' none'
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

# Says why a signed message is not about this package, if so.
wrong_message() {
    prior=$(zeros)$(zeros)
    if [ "$role" != 00 ]; then
        before=$((count - 1))
        [ "$(hex <"$one/prior.cbor")" = "$(cbor 128 $before && cat "$tmp/first-$before")" ] ||
            echo "prior.cbor is not the signatures before it"
        prior=$(sha3 512 <"$one/prior.cbor")
    fi
    domain=$(printf 'sealstone.package.v1' | hex)00
    if [ "$message" != "$domain$(slice "$message" 43-124)$head$prior" ]; then
        echo "the signed message is not of this manifest, tag and confirmation"
    elif [ "$(slice "$message" 61-124)" != "$(sha3 256 <"$one/fingerprint.input")" ]; then
        echo "the signed message names another fingerprint"
    fi
}

# Sets key to that of a PEM file: name, how its DER begins, where its digest is in the
# fingerprint's input.
key() {
    sed '/^-----/d' "$one/$1.pem" | "$openssl" base64 -d >"$tmp/der"
    key=$(hex <"$tmp/der")
    case $key in "$2"*) ;; *) return 1 ;; esac
    key=${key#"$2"}
    [ "$(slice "$input" "$3")" = "$(tail -c "+$((${#2} / 2 + 1))" "$tmp/der" | sha3 256)" ]
}

verify() {
    name=$1
    shift
    "$openssl" pkeyutl -verify -pubin -inkey "$one/$name.pem" -rawin -in "$one/framed" \
        -sigfile "$one/$name.sig" "$@" >/dev/null 2>&1
}

# Verifies ML-DSA-65 where OpenSSL cannot: files of key, signature, signed bytes. Without them it
# only tells whether it could. -I keeps modules of the current directory out.
ml_dsa='
import sys
from cryptography.hazmat.primitives.asymmetric import mldsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

mldsa.MLDSA65PublicKey.from_public_bytes(bytes(1952))
if len(sys.argv) > 1:
    pem, signature, message = (open(path, "rb").read() for path in sys.argv[1:])
    key = load_pem_public_key(pem)
    if not isinstance(key, mldsa.MLDSA65PublicKey):
        sys.exit(1)
    key.verify(signature, message, context=b"sealstone.package.v1")
'

# Layer 6: each response covers head, signatures and the responses before it, and holds at the
# time of the next one.
timestamps() {
    stamps=0 number=0 covers=0 why=''
    : >"$tmp/stamps-0"
    while [ -d "$here/timestamp-$((stamps + 1))" ]; do stamps=$((stamps + 1)); done
    if [ "$stamps" -eq 0 ]; then
        report 6 timestamp absent "the package has no timestamp" && return
    elif [ -z "$tsa_roots" ] && [ ! -f "$here/timestamp-1/root.pem" ]; then
        report 6 timestamp unchecked "give roots that you trust: --tsa-roots FILE" && return
    fi
    while [ "$number" -lt "$stamps" ] && [ -z "$why" ]; do
        number=$((number + 1)) one=$here/timestamp-$number
        why=$(stamp) || why="timestamp $number: $why"
        covers=$(covered)
    done
    [ -n "$why" ] || [ "$covers" -ge "$(grep -c '^00' "$tmp/signed")" ] ||
        why="a signature is not covered"
    if [ -n "$why" ]; then
        report 6 timestamp bad "$why"
    else
        report 6 timestamp good "$stamps timestamp(s), the first one of $(text 1 'Time stamp')"
    fi
}

# Checks one; fails with the reason.
stamp() {
    stamped=$(hex <"$one/stamped") response=$(hex <"$one/response.tsr") before=$covers
    covers=$(covered) sum=$(sha3 256 <"$one/response.tsr")
    [ "$sum" = "$(cat "$one/response.sha3-256")" ] ||
        { echo "response.tsr was altered" && return 1; }
    parts=$(
        printf 'sealstone.package.timestamp.v1' | hex
        printf '%s' "00$head"
        cbor 128 "$covers" && cat "$tmp/first-$covers"
        cbor 128 $((number - 1)) && cat "$tmp/stamps-$((number - 1))"
    ) 2>/dev/null
    if [ "$covers" -lt "$before" ] || [ "$stamped" != "$parts" ]; then
        echo "stamped is not of this package's parts" && return 1
    fi
    { cat "$tmp/stamps-$((number - 1))" && printf 83 && cbor 0 "$covers" &&
        cbor 64 $((${#response} / 2)) && printf '%s' "${response}5820$sum"; } >"$tmp/stamps-$number"
    set -- -CAfile "${tsa_roots:-$one/root.pem}"
    [ ! -f "$one/chain.pem" ] || set -- "$@" -untrusted "$one/chain.pem"
    if [ "$number" -lt "$stamps" ]; then
        later=$(seconds $((number + 1)))
        [ "$(seconds "$number")" -le "$later" ] || { echo "later than the next one" && return 1; }
        set -- "$@" -attime "$later"
    fi
    "$openssl" ts -verify -in "$one/response.tsr" -data "$one/stamped" "$@" >"$tmp/ts" 2>&1 ||
        { echo "OpenSSL refuses it: $(tail -n 1 "$tmp/ts")" && return 1; }
    # Clocks differ by 300 seconds at most; the accuracy is rounded up to 2 seconds more.
    accuracy=$(text "$number" Accuracy | sed -n 's/^\(0x[0-9A-F]*\) seconds.*/\1/p')
    awk -v from="$before" -v to="$covers" -v at=$(($(seconds "$number") + ${accuracy:-0} + 302)) '
        NR > from && NR <= to && $3 > at { print "signature", NR, "claims a later time"; late = 1 }
        END { exit late }' "$tmp/signed"
}

# How many signatures the stamped message has: the length of the array behind domain and head.
covered() {
    length=$(hex <"$one/stamped" | cut -c 321-324)
    case $length in 98*) echo $((0x${length#98})) ;; *) echo $((0x${length%??} - 128)) ;; esac
}

# A line of a response's text: number, name.
text() {
    "$openssl" ts -reply -in "$here/timestamp-$1/response.tsr" -text 2>/dev/null |
        sed -n "s/^$2: //p"
}

# The time of a response in seconds since 1970: number.
seconds() {
    text "$1" 'Time stamp' | awk '{
        month = (index("JanFebMarAprMayJunJulAugSepOctNovDec", $1) + 2) / 3
        early = month < 3; year = $4 - early; month += 12 * early; split($3, time, ":")
        days = 365 * year + int(year / 4) - int(year / 100) + int(year / 400) - 719469
        days += int((153 * (month - 3) + 2) / 5) + $2
        printf "%.0f\n", days * 86400 + time[1] * 3600 + time[2] * 60 + int(time[3])
    }'
}

# Those who signed, and whether they are enough and the wanted ones.
signers() {
    while read -r role fingerprint time; do
        case $role in
            00) what=signer && grep -q "^signer $fingerprint\$" "$tmp/manifest" || what=stranger ;;
            *) what=counter-signer ;;
        esac
        [ $what != stranger ] || bad=1
        echo "$what $(printf '%s\n' "$fingerprint" | sed 's/..../&-/g; s/-$//')"
    done <"$tmp/signed"
    have=$(grep '^00' "$tmp/signed" | cut -d' ' -f2 | sort -u | grep -c '') need=$(field threshold)
    [ "$have" -ge "${need:-1}" ] || { echo "too few signers: $have of ${need:-1}" && bad=1; }
    for fingerprint in $wanted; do
        grep -q "^00 $fingerprint " "$tmp/signed" || { echo "not signed by $fingerprint" && bad=1; }
    done
}

# Prints the fields of a manifest (CBOR, here in hexadecimal on one line), one per line. A file has
# three lines: its name, its digest, its length.
# shellcheck disable=SC2016
decode='
function digits(n) {
    at += 2 * n
    if (at > length($0) + 1) { print "malformed"; exit }
    return substr($0, at - 2 * n, 2 * n)
}
function letters(n,   s) { for (; n > 0; n--) s = s letter[digits(1)]; return s }
function head(   n, more) {
    n = value[digits(1)]; kind = int(n / 32); n %= 32
    if (n < 24) return n
    more = 2 ^ (n - 24)
    for (n = 0; more > 0; more--) n = n * 256 + value[digits(1)]
    return n
}
function item(   n) {
    n = head()
    return kind == 2 ? digits(n) : kind == 3 ? letters(n) : sprintf("%.0f", n)
}
function entry(   path, type, size, which) {
    item(); path = "./" item(); type = item(); size = item(); which = type == 1 ? "embedded" : "file"
    print "name", path
    if (type == 2) print "link", path, "->", letters(head())
    else { print which, item(), path; print which, size, path }
    item(); item()
}
BEGIN {
    for (i = 0; i < 256; i++) {
        code = sprintf("%02x", i); value[code] = i
        letter[code] = i < 32 || i == 127 ? "?" : sprintf("%c", i)
    }
    names = "version,signer,threshold,required,time,author,digest,complete,,policy,metadata"
    split(names, name, ",")
}
{
    at = 1
    for (fields = item(); fields > 0; fields--) {
        key = item()
        if (key == 8) for (n = item(); n > 0; n--) entry()
        else if (key == 1 || key == 3) for (n = item(); n > 0; n--) print name[key + 1], item()
        else print name[key + 1], item()
    }
    print (at == length($0) + 1) ? "end" : "malformed"
}'

main "$@"
