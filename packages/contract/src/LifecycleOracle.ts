/** Acknowledged events, and the runs that must follow from them. */
import { assert } from "@effect/vitest"
import type { Event, EventId, Run, RunId } from "@weft/core/adapter"
import { actAt, type BuildName, buildNames, type Job, type Rules } from "./LifecycleNodes.ts"

export type ServeAction = "deploy" | "live" | "end live"

interface Published {
  readonly event: Event
  /** The build that served when the event was published. It makes all attempts. */
  readonly build: BuildName
  readonly job: Job
  /** Indexes of the functions that handle the event. */
  readonly functions: ReadonlyArray<number>
}

/** The attempts of one delivery. */
interface Chain {
  readonly published: Published
  readonly rules: Rules
  readonly runs: ReadonlyArray<Run>
  /** The origin of the first attempt. */
  readonly origin: RunId | null
}

export class ExpectedRuns {
  readonly #rules: ReadonlyArray<Rules>
  readonly #published = new Map<EventId, Published>()
  /** Functions with the keys of events that they handled. */
  readonly #taken = new Set<string>()
  readonly #cancelled = new Set<RunId>()
  /** Replayed runs by their ids. */
  readonly #replayed = new Map<RunId, Run>()
  /** Ended runs as they were first seen. */
  readonly #ended = new Map<RunId, Run>()
  #kills = 0
  #deployed: BuildName = buildNames[0]
  #live: BuildName | null = null

  constructor(rules: ReadonlyArray<Rules>) {
    this.#rules = rules
  }

  get published(): number {
    return this.#published.size
  }

  typeOf(pick: number): string {
    const index = pick % (this.#rules.length + 1)
    return index === this.#rules.length ? "job:all" : `job:${index}`
  }

  publish(event: Event, job: Job): void {
    const handlers =
      event.event_type === "job:all" ? this.#rules.map((_, index) => index) : [Number(event.event_type.slice(4))]
    const functions = handlers.filter((index) => !(this.#rules[index]?.once && this.#taken.has(`${index} ${job.key}`)))
    for (const index of functions) this.#taken.add(`${index} ${job.key}`)
    this.#published.set(event.event_id, { event, build: this.#live ?? this.#deployed, job, functions })
  }

  serve(build: BuildName, action: ServeAction): void {
    if (action === "deploy") this.#deployed = build
    else this.#live = action === "live" ? build : null
  }

  cancel(run: Run): void {
    assert.strictEqual(run.status, "cancelled")
    this.#cancelled.add(run.run_id)
  }

  isReplayed(run: Run): boolean {
    return this.#replayed.has(run.run_id)
  }

  replay(run: Run): void {
    this.#replayed.set(run.run_id, run)
  }

  killed(): void {
    this.#kills++
  }

  /** Asserts that ended runs do not change, and that no group exceeds its limit. */
  see(runs: ReadonlyArray<Run>): void {
    const byId = new Map(runs.map((run) => [run.run_id, run]))
    for (const [id, before] of this.#ended) assert.deepStrictEqual(byId.get(id), before, "an ended run does not change")
    for (const run of runs) if (run.status !== "running") this.#ended.set(run.run_id, run)

    const running = runs.filter((run) => run.status === "running")
    for (const [group, members] of Map.groupBy(running, (run) => this.#toGroup(run))) {
      const limit = this.#findRules(members[0]?.var ?? "").concurrency?.limit ?? Number.POSITIVE_INFINITY
      assert.isAtMost(members.length, limit, `runs of ${group}`)
    }
  }

  /** Asserts that every delivery had the attempts that its rules require, and that there are no other runs. */
  close(runs: ReadonlyArray<Run>): void {
    const rest = new Set(runs)
    for (const chain of this.#chains(runs)) {
      for (const run of chain.runs) assert.isTrue(rest.delete(run), "a run belongs to one delivery")
      this.#checkChain(chain)
    }
    assert.deepStrictEqual([...rest], [], "unexpected runs")
    for (const id of this.#cancelled) assert.strictEqual(this.#ended.get(id)?.status, "cancelled")
    if (this.#kills === 0) assert.isFalse(runs.some(isLost), "a run was lost although no node was disconnected")
  }

  #chains(runs: ReadonlyArray<Run>): ReadonlyArray<Chain> {
    const of = (published: Published, name: string, origin: RunId | null) =>
      makeChain(
        published,
        this.#findRules(name),
        origin,
        runs.filter((run) => belongsTo(run, published.event, name))
      )
    const handled = [...this.#published.values()].flatMap((published) =>
      published.functions.map((index) => of(published, `f${index}`, null))
    )
    const replays = [...this.#replayed.values()].map((run) => of(this.#findPublished(run), run.var, run.run_id))
    return [...handled, ...replays]
  }

  #checkChain({ published: { event, build, job }, rules, runs, origin }: Chain): void {
    const what = `${event.event_type} ${event.event_id} of ${origin ?? "the event"}`
    let attempt = 1
    let isRetried = true
    let first: Run | null = null
    let earliest: number = origin === null ? event.event_time : 0
    for (const run of runs) {
      assert.isTrue(isRetried, `no attempt follows the last of ${what}`)
      assert.strictEqual(run.attempt, attempt, what)
      assert.isAtLeast(run.start_time, earliest, what)
      assert.strictEqual(run.origin_run_id, first?.run_id ?? origin, what)
      if (isLost(run)) continue
      first ??= run
      const stopped = run.stop_time ?? assert.fail(`${what} has a run that did not end`)
      if (this.#cancelled.has(run.run_id)) assert.strictEqual(run.status, "cancelled", what)
      else assert.deepStrictEqual(toEnd(run), expectedEnd(job, attempt, build), what)
      if (run.result?.includes('"TimedOut"')) assert.isAtLeast(stopped - run.start_time, rules.timeout, what)
      isRetried = run.status === "failed" && attempt < rules.attempts
      earliest = stopped + (rules.jitter ? 0 : rules.delay * rules.backoff ** (attempt - 1))
      attempt++
    }
    assert.isFalse(isRetried, `${what} has too few attempts: ${runs.length}`)
  }

  #findRules(name: string): Rules {
    return this.#rules[Number(name.slice(1))] ?? assert.fail(`unknown function ${name}`)
  }

  #findPublished(run: Run): Published {
    const found = run.event_id === null ? undefined : this.#published.get(run.event_id)
    return found ?? assert.fail("a run belongs to an unpublished event")
  }

  #toGroup(run: Run): string {
    const { concurrency } = this.#findRules(run.var)
    if (concurrency === null) return "no group"
    return concurrency.keyed ? `${run.var} ${this.#findPublished(run).job.key}` : run.var
  }
}

const belongsTo = (run: Run, event: Event, name: string): boolean => run.event_id === event.event_id && run.var === name

/** Sorts the attempts of a delivery. Later ones have the first as origin. Lost runs precede their replacement. */
const makeChain = (published: Published, rules: Rules, origin: RunId | null, ofFunction: ReadonlyArray<Run>): Chain => {
  const firsts = ofFunction.filter((run) => run.attempt === 1 && run.origin_run_id === origin)
  const ids = new Set(firsts.map((run) => run.run_id))
  const later = ofFunction.filter((run) => run.attempt > 1 && run.origin_run_id !== null && ids.has(run.origin_run_id))
  const runs = [...firsts, ...later].sort(
    (a, b) => a.attempt - b.attempt || a.start_time - b.start_time || Number(isLost(b)) - Number(isLost(a))
  )
  return { published, rules, origin, runs }
}

const isLost = (run: Run): boolean => run.status === "failed" && run.result?.includes('"NodeLost"') === true

/** Returns the status with the result, or with the name of the error. */
const toEnd = (run: Run) => {
  const result: unknown = JSON.parse(run.result ?? "null")
  return run.status === "succeeded" ? [run.status, result] : [run.status, errorName(run.result ?? "")]
}

const errorName = (result: string): string => /"name":"([^"]*)"/.exec(result)?.[1] ?? ""

const expectedEnd = (job: Job, attempt: number, build: BuildName) => {
  switch (actAt(job, attempt)) {
    case "throws":
      return ["failed", "RangeError"]
    case "hangs":
      return ["failed", "TimedOut"]
    default:
      return ["succeeded", [attempt, build]]
  }
}
