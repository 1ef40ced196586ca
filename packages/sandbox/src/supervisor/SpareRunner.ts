/** Runners for bundles that are loaded for the first time: one per bundle, optionally started ahead. */
import type { Pool } from "./Pool.ts"
import type { RunnerListener, RunnerProcess } from "./RunnerProcess.ts"

/** Large enough for the code cache of a 16 MiB script and the description of its exports. */
const frameBytesMax = 256 * 1024 * 1024

/** A listener that ignores messages until its `listener` is set. */
class Relay implements RunnerListener {
  listener: RunnerListener | undefined
  readonly message: RunnerListener["message"] = (message) => this.listener?.message(message)
  readonly died: RunnerListener["died"] = (death) => this.listener?.died(death)
}

interface Started {
  readonly runner: RunnerProcess
  readonly relay: Relay
}

export class SpareRunner {
  readonly #pool: Pool
  #isEnabled: boolean
  #spare: Started | undefined

  /** With `isEnabled`, one runner is always started ahead. */
  constructor(pool: Pool, isEnabled: boolean) {
    this.#pool = pool
    this.#isEnabled = isEnabled
    this.renew()
  }

  /** Returns a runner that is ready or booting. The caller must kill it. */
  take(listener: RunnerListener): RunnerProcess {
    const { runner, relay } = this.#ready ?? this.#start()
    this.#spare = undefined
    relay.listener = listener
    return runner
  }

  /** Starts the next runner unless one is waiting. */
  renew(): void {
    if (this.#isEnabled) this.#spare = this.#ready ?? this.#start()
  }

  close(): void {
    this.#isEnabled = false
    this.#spare?.runner.kill("the sandbox was closed")
    this.#spare = undefined
  }

  get #ready(): Started | undefined {
    return this.#spare?.runner.state === "dead" ? undefined : this.#spare
  }

  #start(): Started {
    const relay = new Relay()
    return { runner: this.#pool.startUnpooled(frameBytesMax, relay), relay }
  }
}
