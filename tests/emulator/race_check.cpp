/* SPDX-License-Identifier: MIT */
#include "race_check.h"

void race_check::begin(int of_threads, size_t shared_bytes)
{
    threads = of_threads;
    actors = (size_t)(threads + groups() + COPIES + (threads <= COPYING ? threads : 0));
    copies_begun = 0;
    awake = false;
    words.resize((shared_bytes + 3) / 4);
}

/* Ordering is tracked from the first access on. */
void race_check::wake()
{
    awake = true;
    words.assign(words.size(), word());
    now.assign(actors * actors, 0);
    for (size_t x = 0; x < actors; x++)
        now[x * actors + x] = 1;
    tokens.clear();
    many.clear();
    unused.clear();
    unfenced.assign((size_t)threads, {});
}

void race_check::join(uint32_t *to, const uint32_t *from) const
{
    for (size_t x = 0; x < actors; x++)
        to[x] = to[x] > from[x] ? to[x] : from[x];
}

/* Phases of a barrier alternate between two tokens: no thread is two phases ahead. */
static uintptr_t token_key(const void *token, unsigned phase)
{
    return ((uintptr_t)token << 1) + (phase & 1);
}

void race_check::release(int actor, const void *token, unsigned phase)
{
    if (!awake)
        return;
    uint32_t *const mine = clock_of(actor);
    clock &kept = tokens[token_key(token, phase)];
    if (kept.empty())
        kept.assign(actors, 0);
    if (actor < threads)
        join(kept.data(), mine);
    else
        kept[(size_t)actor] = mine[actor];
    mine[actor]++;
}

void race_check::acquire(int actor, const void *token, unsigned phase)
{
    if (!awake)
        return;
    const auto found = tokens.find(token_key(token, phase));
    if (found != tokens.end())
        join(clock_of(actor), found->second.data());
}

void race_check::start(int thread, int unit)
{
    if (!awake)
        return;
    join(clock_of(unit), clock_of(thread));
    clock_of(thread)[thread]++;
}

void race_check::fence(int thread)
{
    if (!awake)
        return;
    for (const uint32_t x : unfenced[(size_t)thread])
        if (words[x].unfenced == thread)
            words[x].unfenced = NOBODY;
    unfenced[(size_t)thread].clear();
}

std::string race_check::name(int actor) const
{
    return actor < threads ? "thread " + std::to_string(actor)
           : actor < threads + groups()
               ? "wgmma of warpgroup " + std::to_string(actor - threads)
           : actor < threads + groups() + COPIES
               ? "TMA"
               : "cp.async of thread " +
                     std::to_string(actor - threads - groups() - COPIES);
}

bool race_check::conflict(int actor, bool writes, uint32_t at, int other, bool wrote)
{
    wrong = "race: shared memory at " + std::to_string(at) + ": " + name(actor) +
            (writes ? " writes" : " reads") + " what " + name(other) +
            (wrote ? " wrote" : " read") + ", in no order";
    return false;
}

bool race_check::check_proxies(access_kind kind, word &w, uint32_t at, int actor)
{
    const bool async = kind == ACCESS_ASYNC_READ || kind == ACCESS_ASYNC_WRITE;

    if (async && w.unfenced != NOBODY) {
        wrong = "race: shared memory at " + std::to_string(at) + ": " + name(actor) +
                " comes after a write of " + name(w.unfenced) +
                " without fence.proxy.async";
        return false;
    }
    if (kind == ACCESS_WRITE && actor < threads && w.unfenced != actor) {
        w.unfenced = (uint16_t)actor;
        unfenced[(size_t)actor].push_back(at / 4);
    }
    return true;
}

void race_check::read_by_many(word &w, int actor, uint32_t epoch)
{
    if (unused.empty()) {
        unused.push_back((uint32_t)many.size());
        many.emplace_back();
    }
    clock &reads = many[unused.back()];
    reads.assign(actors, 0);
    reads[w.reader] = w.read;
    reads[(size_t)actor] = epoch;
    w.reader = MANY;
    w.read = unused.back();
    unused.pop_back();
}

bool race_check::check_read(int actor, word &w, uint32_t at)
{
    const uint32_t *const mine = clock_of(actor);

    if (w.writer != NOBODY && w.written > mine[w.writer])
        return conflict(actor, false, at, w.writer, true);
    if (w.reader == MANY)
        many[w.read][(size_t)actor] = mine[actor];
    else if (w.reader == NOBODY || w.reader == actor || w.read <= mine[w.reader]) {
        w.reader = (uint16_t)actor;
        w.read = mine[actor];
    } else
        read_by_many(w, actor, mine[actor]);
    return true;
}

bool race_check::check_write(int actor, word &w, uint32_t at)
{
    const uint32_t *const mine = clock_of(actor);

    if (w.writer != NOBODY && w.written > mine[w.writer])
        return conflict(actor, true, at, w.writer, true);
    if (w.reader == MANY) {
        for (size_t x = 0; x < actors; x++)
            if (many[w.read][x] > mine[x])
                return conflict(actor, true, at, (int)x, false);
        unused.push_back(w.read);
    } else if (w.reader != NOBODY && w.read > mine[w.reader])
        return conflict(actor, true, at, w.reader, false);
    w.writer = (uint16_t)actor;
    w.written = mine[actor];
    w.reader = NOBODY;
    return true;
}

bool race_check::access(int actor, access_kind kind, uint32_t at, int bytes)
{
    const bool writes = kind == ACCESS_WRITE || kind == ACCESS_ASYNC_WRITE;

    if (kind == ACCESS_UNCHECKED)
        return true;
    if (!awake)
        wake();
    for (uint32_t x = at / 4; x < (at + (uint32_t)bytes + 3) / 4; x++)
        if (!check_proxies(kind, words[x], 4 * x, actor) ||
            !(writes ? check_write(actor, words[x], 4 * x)
                     : check_read(actor, words[x], 4 * x)))
            return false;
    return true;
}
