# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# bash completion for attend(1), which says itself what it takes: attend help --words

_attend()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} first='' words='' files='' name values
    COMPREPLY=()

    # "--name=value" comes as three words, "--name", "=" and "value".
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi

    if ((COMP_CWORD == 1)); then
        words="$(attend help --words 2>/dev/null) help --help --version"
    else
        case $command:$prev in
        *:--isa) words=$(attend info --json 2>/dev/null | grep -oE '"name": "[a-z0-9]+' | cut -d'"' -f4) ;;
        *:--device) words=cuda ;;
        bench:--case) words=$(attend bench --list 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
        lab:lab) words="$(attend help --words lab 2>/dev/null) --help" ;;
        design:design) words='copy average weights heads --help' ;;
        help:*) words=$(attend help --words 2>/dev/null) ;;
        *:-o) files=1 ;;
        *)
            [[ $command == lab ]] && first=${COMP_WORDS[2]}
            while IFS=$'\t' read -r name values; do
                words+=" $name"
                if [[ $name == "$prev" && $values != - ]]; then
                    [[ $values == *@file* ]] && files=1
                    words=${values//@file/}
                    break
                fi
            done < <(attend help --words "$command" ${first:+"$first"} 2>/dev/null)
            case $command:$prev in
            sheets:sheets) words+=' 000 001 002 003 004' ;;
            judge:judge | grade:grade) files=1 ;;
            esac
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _attend attend
