
# The labels of approved contacts, for `seal --to` and `reseal --to`.
_sealstone_contacts() {
    local -a contacts
    contacts=(${(f)"$(sealstone contacts 2>/dev/null)"})
    compadd -a contacts
}
