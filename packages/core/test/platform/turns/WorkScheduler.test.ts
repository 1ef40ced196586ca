import { assert, describe, it } from "@effect/vitest"
import { connectionKey, defaultTurnLimits, WorkScheduler } from "@weft/core/adapter"
import fc from "fast-check"
import { VirtualLoop } from "./VirtualLoop.ts"

const limits = { ...defaultTurnLimits, turnBudgetMs: 4, quantumMs: 1 }
/** Largest cost of one piece of work in the generated loads, in milliseconds. */
const costMaxMs = 3
/** Rounding of sums of fractions. */
const epsilon = 1e-6

const make = (changed: Partial<typeof limits> = {}) => {
  const loop = new VirtualLoop()
  return { loop, turns: new WorkScheduler(loop, { ...limits, ...changed }) }
}

/** Uses up the budget of this turn, so that later work is queued. */
const exhaust = (loop: VirtualLoop, turns: WorkScheduler): void =>
  void turns.offer("exhausted", "request", 0, () => loop.spend(limits.turnBudgetMs))

const costs = fc.array(fc.double({ min: 0.01, max: costMaxMs, noNaN: true }), { minLength: 1, maxLength: 30 })
const loads = fc.array(costs, { minLength: 1, maxLength: 8 })

interface Ran {
  readonly key: number
  readonly index: number
  readonly startedAt: number
  readonly endedAt: number
}

/** Queues all loads at once, under one key each, and returns what ran in order. */
const runLoads = (keys: ReadonlyArray<string>, all: ReadonlyArray<ReadonlyArray<number>>): ReadonlyArray<Ran> => {
  const { loop, turns } = make()
  exhaust(loop, turns)
  const ran: Array<Ran> = []
  const beganAt = loop.now()
  all.forEach((load, key) => {
    load.forEach((cost, index) => {
      turns.offer(keys[key] ?? "", "host_call", 0, () => {
        const startedAt = loop.now() - beganAt
        loop.spend(cost)
        ran.push({ key, index, startedAt, endedAt: loop.now() - beganAt })
      })
    })
  })
  assert.strictEqual(ran.length, 0)
  loop.runAll()
  return ran
}

const environments = Array.from({ length: 8 }, (_, at) => `env-${at}`)

describe("WorkScheduler", () => {
  it("runs work at once, without a turn of the loop, while nothing waits and the budget lasts", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    for (const key of ["a", "b", "a"]) {
      assert.isTrue(
        turns.offer(key, "request", 0, () => {
          loop.spend(0.1)
          ran.push(key)
        })
      )
    }
    assert.deepStrictEqual(ran, ["a", "b", "a"])
    assert.isFalse(loop.isScheduled)
  })

  it("queues work when the budget of the turn is used up, and runs it in the next turn", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    exhaust(loop, turns)
    turns.offer("a", "request", 0, () => void ran.push("a"))
    assert.deepStrictEqual([ran.length, turns.queued], [0, 1])
    loop.turn()
    assert.deepStrictEqual([ran, turns.queued], [["a"], 0])
  })

  it("spends at most the budget and one piece of work in each turn of the loop", () => {
    fc.assert(
      fc.property(loads, (all) => {
        const { loop, turns } = make()
        exhaust(loop, turns)
        all.forEach((load, key) => {
          for (const cost of load) turns.run(`env-${key}`, "outcome", () => loop.spend(cost))
        })
        while (loop.isScheduled) assert.isBelow(loop.turn(), limits.turnBudgetMs + costMaxMs + epsilon)
        assert.strictEqual(turns.queued, 0)
      })
    )
  })

  it("runs everything once, and the work of one key in its order", () => {
    fc.assert(
      fc.property(loads, (all) => {
        const ran = runLoads(environments, all)
        assert.strictEqual(ran.length, all.flat().length)
        all.forEach((load, key) => {
          const order = ran.filter((each) => each.key === key).map(({ index }) => index)
          assert.deepStrictEqual(order, [...load.keys()])
        })
      })
    )
  })

  it("lets no key wait for longer than a quantum and one piece of work of each other key", () => {
    fc.assert(
      fc.property(loads, (all) => {
        const ran = runLoads(environments, all)
        for (const key of all.keys()) {
          const first = ran.find((each) => each.key === key)
          assert.isAtMost(first?.startedAt ?? 0, (all.length - 1) * (limits.quantumMs + costMaxMs) + epsilon)
        }
      })
    )
  })

  it("gives keys with queued work the same time, up to a quantum and one piece of work of each", () => {
    fc.assert(
      fc.property(loads, (all) => {
        const ran = runLoads(environments, all)
        const used = all.map(() => 0)
        const left = all.map((load) => load.length)
        for (const { key, startedAt, endedAt } of ran) {
          used[key] = (used[key] ?? 0) + endedAt - startedAt
          left[key] = (left[key] ?? 0) - 1
          const waiting = used.filter((_, other) => (left[other] ?? 0) > 0)
          const spread = Math.max(...waiting) - Math.min(...waiting)
          if (waiting.length > 1) assert.isAtMost(spread, 2 * (limits.quantumMs + costMaxMs) + epsilon)
        }
      })
    )
  })

  it("gives a connection a quarter of the time of an environment", () => {
    const load = Array.from({ length: 400 }, () => 0.1)
    const ran = runLoads(["env", connectionKey(1)], [load, load])
    const lastOfEnv = ran.findLastIndex(({ key }) => key === 0)
    const connections = ran.slice(0, lastOfEnv).filter(({ key }) => key === 1).length
    assert.approximately(connections, 100, 5)
  })

  it("serves a neighbour after one piece of work of a flood, however long the flood is", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    exhaust(loop, turns)
    for (let n = 0; n < 10_000; n++) {
      turns.offer("flood", "host_call", 0, () => {
        loop.spend(0.05)
        ran.push("flood")
      })
    }
    turns.offer("neighbour", "request", 0, () => void ran.push("neighbour"))
    loop.turn()
    assert.isAtMost(ran.indexOf("neighbour"), limits.quantumMs / 0.05 + 1)
    assert.isAtLeast(ran.indexOf("neighbour"), 0)
  })

  it("charges work that ran at once, so that a flood does not begin its queue with a full quantum", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    turns.offer("flood", "host_call", 0, () => loop.spend(limits.turnBudgetMs))
    turns.offer("flood", "host_call", 0, () => void ran.push("flood"))
    turns.offer("neighbour", "request", 0, () => void ran.push("neighbour"))
    loop.runAll()
    assert.deepStrictEqual(ran, ["neighbour", "flood"])
  })

  it("cancels all debt once nothing waits", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    turns.offer("a", "list", 0, () => loop.spend(40))
    loop.runAll()
    exhaust(loop, turns)
    for (const key of ["a", "b"]) turns.offer(key, "request", 0, () => void ran.push(key))
    loop.runAll()
    assert.deepStrictEqual(ran, ["a", "b"])
  })

  it("refuses the work of a key whose queue is full, and no other key's", () => {
    const { loop, turns } = make({ queuedPerKey: 3, queuedBytesPerKey: 100 })
    let ran = 0
    const count = (): void => void ran++
    exhaust(loop, turns)
    const accepted = [1, 2, 3, 4].map(() => turns.offer("flood", "host_call", 0, count))
    assert.deepStrictEqual(accepted, [true, true, true, false])
    assert.isTrue(turns.offer("large", "host_call", 60, count))
    assert.isFalse(turns.offer("large", "host_call", 60, count))
    assert.isTrue(turns.offer("neighbour", "request", 60, count))
    turns.run("flood", "outcome", count)
    loop.runAll()
    assert.strictEqual(ran, 6)
    assert.isTrue(turns.offer("flood", "host_call", 0, count))
  })

  it("charges work within other work to its own key only", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    turns.offer("outer", "request", 0, () => {
      turns.offer("inner", "host_call", 0, () => loop.spend(limits.turnBudgetMs))
    })
    for (const key of ["inner", "outer"]) turns.offer(key, "request", 0, () => void ran.push(key))
    loop.runAll()
    assert.deepStrictEqual(ran, ["outer", "inner"])
  })

  it("bounds work that starts further work within one turn", () => {
    const { loop, turns } = make()
    let ran = 0
    turns.offer("outer", "request", 0, () => {
      for (let n = 0; n < 100; n++) {
        turns.offer("inner", "host_call", 0, () => {
          loop.spend(1)
          ran++
        })
      }
    })
    assert.strictEqual(ran, limits.turnBudgetMs)
    loop.runAll()
    assert.strictEqual(ran, 100)
  })

  it("continues with other work after work that throws", () => {
    const { loop, turns } = make()
    const ran: Array<string> = []
    exhaust(loop, turns)
    turns.offer("a", "request", 0, () => {
      throw new Error("broken")
    })
    for (const key of ["a", "b"]) turns.offer(key, "request", 0, () => void ran.push(key))
    assert.throws(() => loop.turn(), "broken")
    loop.runAll()
    assert.sameMembers(ran, ["a", "b"])
  })

  it("charges a fiber that begins at once for the rest of the task", () => {
    const { loop, turns } = make()
    loop.task(() => {
      assert.isTrue(turns.begin("a", "request"))
      loop.spend(limits.turnBudgetMs)
    })
    assert.isFalse(turns.begin("b", "request"))
    loop.runAll()
    assert.isTrue(turns.begin("b", "request"))
  })

  it("pauses long work for as long as it took, while keys without long work are active", () => {
    const { loop, turns } = make()
    const ran: Array<readonly [key: string, at: number]> = []
    const work = (key: string, ms: number) => () => {
      ran.push([key, loop.now()])
      loop.spend(ms)
    }
    turns.offer("light", "request", 0, work("light", 1))
    for (let n = 0; n < 3; n++) turns.run("large", "request", work("large", 20))
    loop.turn()
    turns.offer("light", "request", 0, work("light", 1))
    assert.strictEqual(ran.length, 3)
    loop.runTimers()
    assert.deepStrictEqual(ran, [
      ["light", 0],
      ["large", 1],
      ["light", 21],
      ["large", 41],
      ["large", 81]
    ])
  })

  it("does not pause long work while only keys with long work are active", () => {
    const { loop, turns } = make()
    let ran = 0
    for (let n = 0; n < 10; n++) {
      for (const key of ["a", "b"]) {
        turns.run(key, "request", () => {
          loop.spend(20)
          ran++
        })
      }
    }
    loop.runAll()
    assert.deepStrictEqual([ran, loop.now()], [20, 400])
  })

  it("keeps the order of a key's work while it pauses, and runs all of it", () => {
    const long = fc.double({ min: 0.01, max: 30, noNaN: true })
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), long), { minLength: 1, maxLength: 40 }), (all) => {
        const { loop, turns } = make()
        const ran: Array<ReadonlyArray<number>> = [[], [], [], []].map(() => [])
        const offered = ran.map((): Array<number> => [])
        all.forEach(([key, ms], at) => {
          offered[key]?.push(at)
          turns.run(`env-${key}`, "request", () => {
            ran[key] = [...(ran[key] ?? []), at]
            loop.spend(ms)
          })
        })
        loop.runTimers()
        assert.deepStrictEqual(ran, offered)
        assert.strictEqual(turns.queued, 0)
      })
    )
  })

  it("reports waits, refusals and the busiest key's share without naming a key", () => {
    const { loop, turns } = make({ queuedPerKey: 1 })
    turns.offer("secret-env", "list", 0, () => loop.spend(9))
    turns.offer("other-env", "list", 0, () => loop.spend(3))
    assert.isFalse(turns.offer("other-env", "list", 0, () => undefined))
    loop.runAll()
    loop.spend(10_000)
    exhaust(loop, turns)
    loop.runAll()
    const series = turns.read()
    assert.notInclude(JSON.stringify(series), "-env")
    const value = (name: string, kind?: string): unknown =>
      series.find((each) => each.name === name && (kind === undefined || each.labels.kind === kind))
    assert.deepInclude(value("weft_turns_refused_total", "list"), { value: 1 })
    assert.deepInclude(value("weft_turns_seconds_total", "list"), { value: 0.012 })
    assert.deepInclude(value("weft_turns_wait_seconds"), { count: 1 })
    assert.deepInclude(value("weft_turns_key_seconds"), { count: 3 })
    assert.deepInclude(value("weft_turns_busiest_share"), { value: 9 / 16 })
    assert.deepInclude(value("weft_turns_waiting"), { value: 0 })
  })
})
