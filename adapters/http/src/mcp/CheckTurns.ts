/**
 * Who checks next in the one thread that is there for all. Of each environment one check at most stands in line for it, so
 * that no other waits for more than that one. An environment has any number of tools: one whose checks took too long twice
 * has no more turns for a while, whatever the tool.
 */
import type { EnvId } from "@weft/core"
import { Clock, Effect, Semaphore } from "effect"

/** The longest that a check waits for its turn. */
const patienceMs = 2000

/** So many checks of an environment that took too long keep it out, and for so long they count. */
const offencesMax = 2
const offenceMs = 5 * 60_000

/** Environments whose offences are remembered; the one whose last was first goes first. */
const offendersMax = 10_000

/** For the caller of a tool. */
export const notNow = "the arguments cannot be checked now: try again later"
const keptOut = "input schemas of the environment take too long to check: try again in some minutes"

interface Offences {
  readonly count: number
  /** Milliseconds, of the last one. */
  readonly at: number
}

/** The checks of one environment. */
interface Line {
  /** Of standing in line for the thread. */
  readonly turn: Semaphore.Semaphore
  length: number
}

/** What is wrong, for the caller of a tool; null when nothing is. */
export type Check = Effect.Effect<string | null>

export class CheckTurns {
  readonly #thread = Semaphore.makeUnsafe(1)
  readonly #lines = new Map<EnvId, Line>()
  readonly #offenders = new Map<EnvId, Offences>()

  /** What `check` says in its turn, or why it has none. Once begun, it is not interrupted. */
  take(envId: EnvId, check: Check): Check {
    return Effect.suspend(() => {
      let hasBegun = false
      const begun = Effect.suspend(() => {
        hasBegun = true
        return this.#unlessKeptOut(envId, check)
      })
      const inTurn = this.#inLine(envId, this.#thread.withPermit(Effect.uninterruptible(begun)))
      const outOfPatience = Effect.flatMap(Effect.sleep(patienceMs), () =>
        hasBegun ? Effect.never : Effect.succeed(notNow)
      )
      return this.#unlessKeptOut(envId, Effect.raceFirst(inTurn, outOfPatience))
    })
  }

  /** To be told when a check of the environment took too long. */
  offend(envId: EnvId): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      const count = this.#offencesOf(envId, now) + 1
      this.#offenders.delete(envId)
      const [oldest] = this.#offenders.keys()
      if (this.#offenders.size >= offendersMax && oldest !== undefined) this.#offenders.delete(oldest)
      this.#offenders.set(envId, { count, at: now })
    })
  }

  /** After the others of the environment. */
  #inLine(envId: EnvId, check: Check): Check {
    return Effect.acquireUseRelease(
      Effect.sync(() => {
        const line = this.#lines.get(envId) ?? { turn: Semaphore.makeUnsafe(1), length: 0 }
        line.length++
        this.#lines.set(envId, line)
        return line
      }),
      ({ turn }) => turn.withPermit(check),
      (line) =>
        Effect.sync(() => {
          line.length--
          if (line.length === 0) this.#lines.delete(envId)
        })
    )
  }

  #unlessKeptOut(envId: EnvId, check: Check): Check {
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      this.#offencesOf(envId, now) < offencesMax ? check : Effect.succeed(keptOut)
    )
  }

  #offencesOf(envId: EnvId, now: number): number {
    const offences = this.#offenders.get(envId)
    return offences === undefined || now - offences.at >= offenceMs ? 0 : offences.count
  }
}
