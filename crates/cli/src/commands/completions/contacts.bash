
# The labels of approved contacts behind `seal --to` and `reseal --to`. All else is up to the function above.
_sealstone_with_contacts() {
    local line=${COMP_LINE:0:COMP_POINT} word label
    word=${line##*[[:space:]]}
    if [[ $line =~ [[:space:]](re)?seal[[:space:]] && $line =~ [[:space:]]--to(=|[[:space:]]+)[^[:space:]]*$ ]]; then
        word=${word#--to=}
        COMPREPLY=()
        while IFS= read -r label; do
            label=$(printf %q "$label")
            # Bash replaces only what follows the last of these characters.
            [[ $label != "$word"* ]] || COMPREPLY+=("${label#"${word%"${word##*[@:=]}"}"}")
        done < <("$1" contacts 2>/dev/null)
    else
        _sealstone "$@"
    fi
}
complete -F _sealstone_with_contacts -o bashdefault -o default sealstone
