# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# bash completion for attend(1)

_attend()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local commands='run stats info check bench lab sheets grade design report page help' words='' files=''
    COMPREPLY=()

    # "--name=value" comes as three words, "--name", "=" and "value".
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi

    if ((COMP_CWORD == 1)); then
        words="$commands --help --version"
    else
        case ${COMP_WORDS[1]}:$prev in
        run:--q | run:--k | run:--v | run:--out | run:--lse | run:--weights | run:--mask | \
            run:--bias | run:--sinks) files=1 ;;
        stats:--q | stats:--k | stats:--v | stats:--out | stats:--map | stats:--mask | \
            stats:--bias | stats:--sinks) files=1 ;;
        run:--alibi | stats:--alibi) files=1 words=auto ;;
        run:--layout | stats:--layout | lab:--layout) words='bhld blhd' ;;
        run:--causal | stats:--causal | lab:--causal) words='none top-left bottom-right offset:' ;;
        run:--out-dtype) words='same f32' ;;
        run:--dtype | stats:--dtype | lab:--dtype) words=bf16 ;;
        bench:--dtype) words='f32 bf16 f16' ;;
        bench:--order) words='fast same' ;;
        bench:--case) words=$(attend bench --list 2>/dev/null | awk 'NR > 1 { print $1 }') ;;
        *:--isa) words='ref scalar avx2 avx512 avx512bf16 amx neon neonbf16 simd128' ;;
        *:--device) words=cuda ;;
        *:--scale | *:--softcap | *:--window-left | *:--window-right | *:--key-lengths | \
            *:--threads | check:--seed | check:--effort | bench:--seconds | stats:--last | stats:--zoom | \
            stats:--noise) ;;
        stats:--top) words='1 2 3 4 5 6 7 8' ;;
        run:*) words='--q --k --v --out --lse --weights --layout --scale --softcap --causal
            --window-left --window-right --key-lengths --mask --bias --alibi --sinks
            --out-dtype --threads --isa --device --dtype --force --json --help' ;;
        stats:*) words='--q --k --v --layout --scale --softcap --causal --window-left
            --window-right --key-lengths --mask --bias --alibi --sinks --threads --isa --device
            --dtype --rows --top --columns --last --zoom --map --noise --json --out --help' ;;
        info:*) words='--isa --threads --json --help' ;;
        check:*) words='--isa --device --threads --seed --effort --json --help' ;;
        bench:*) words='--case --dtype --threads --isa --seconds --list --json --mpi --trace --device --order --help' ;;
        lab:lab) words='copy extract average window magnitude heads one-vs-two how-many-heads
            remedies permute positions dispersion phases capacity variants place transfer
            --help' ;;
        lab:--stats | lab:--q | lab:--k | lab:--v | lab:--mask | lab:--svg | report:-o | report:--output | page:-o | page:--output | design:--out) files=1 ;;
        lab:--format) words='all int8 fp8 bf16' ;;
        lab:--head) words='diffuse condensed copy average' ;;
        lab:*) words=$(attend lab "${COMP_WORDS[2]}" --help 2>/dev/null |
            grep -oE '^ +--[a-zA-Z0-9-]+' | tr -d ' ') ;;
        sheets:--reading) words='charity letter' ;;
        sheets:*) words='000 001 002 003 004 --reading --explain --json --help' ;;
        grade:--rubric) files=1 ;;
        grade:--seed) ;;
        grade:*) files=1 words='--template --csv --json --hints --rubric --seed --threads --help' ;;
        design:design) words='copy average weights heads --help' ;;
        design:--keys) files=1 words='orthonormal random' ;;
        design:--noisy) words='all items' ;;
        design:*) words='--keys --n --d --items --weights --eps --tau --C --heads --sigma2
            --noisy --alpha --trials --seed --threads --out --json --help' ;;
        report:*) words='-o --output --seed --trials --threads --help' ;;
        page:*) words='-o --output --help' ;;
        help:*) words=$commands ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [[ $files ]]; then
        compopt -o filenames 2>/dev/null
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _attend attend
