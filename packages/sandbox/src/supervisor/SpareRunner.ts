/** Runners for bundles that are loaded for the first time: each has one of its own, which may be started ahead. */
import type { Pool } from "./Pool.ts"
import type { RunnerListener, RunnerProcess } from "./RunnerProcess.ts"

/** A code cache of a 16 MiB script and a description of all that it exports fit in. */
const frameBytesMax = 256 * 1024 * 1024

/** Nobody listens to a runner that waits. */
class Relay implements RunnerListener {
  listener: RunnerListener | undefined
  readonly message: RunnerListener["message"] = (message) => this.listener?.message(message)
  readonly died: RunnerListener["died"] = (why) => this.listener?.died(why)
}

interface Started {
  readonly runner: RunnerProcess
  readonly relay: Relay
}

export class SpareRunner {
  readonly #pool: Pool
  #isWanted: boolean
  #spare: Started | undefined

  /** `isWanted`: whether one is kept ready. */
  constructor(pool: Pool, isWanted: boolean) {
    this.#pool = pool
    this.#isWanted = isWanted
    this.renew()
  }

  /** A booted runner, or one that boots. Who takes it kills it. */
  take(listener: RunnerListener): RunnerProcess {
    const { runner, relay } = this.#ready ?? this.#start()
    this.#spare = undefined
    relay.listener = listener
    return runner
  }

  /** Starts the next one, if none waits. */
  renew(): void {
    if (this.#isWanted) this.#spare = this.#ready ?? this.#start()
  }

  close(): void {
    this.#isWanted = false
    this.#spare?.runner.kill("the sandbox was closed")
    this.#spare = undefined
  }

  get #ready(): Started | undefined {
    return this.#spare?.runner.state === "dead" ? undefined : this.#spare
  }

  #start(): Started {
    const relay = new Relay()
    return { runner: this.#pool.lend(frameBytesMax, relay), relay }
  }
}
