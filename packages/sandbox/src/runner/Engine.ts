/** All isolates of this process: who may compute, and the watch over those that do. */
import type { FromRunner } from "../protocol/FromRunner.ts"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { ToRunner } from "../protocol/ToRunner.ts"
import type { Guest } from "./Guest.ts"
import { GuestIsolate, type IsolateHost } from "./GuestIsolate.ts"

const watchMs = 10
const restWatchMs = 100
/** Entries that took long and so were put aside, at most: each costs a thread of its own. */
const overrunsMax = 14

export class Engine implements IsolateHost {
  readonly limits: RunnerLimits
  readonly guest: Guest
  readonly send: (message: FromRunner) => void
  readonly #isolates = new Map<number, GuestIsolate>()
  /** Disposed or not: whatever still has something inside. */
  readonly #inside = new Set<GuestIsolate>()
  readonly #waiting: Array<GuestIsolate> = []
  #entered = 0
  #overruns = 0
  #watching: NodeJS.Timeout | undefined

  constructor(limits: RunnerLimits, guest: Guest, send: (message: FromRunner) => void) {
    this.limits = limits
    this.guest = guest
    this.send = send
    setInterval(() => {
      for (const isolate of this.#isolates.values()) isolate.watchRest()
    }, restWatchMs)
  }

  receive(message: ToRunner): void {
    switch (message.kind) {
      case "load":
        this.#load(message)
        return
      case "invoke":
        this.#isolates.get(message.isolate)?.invoke(message)
        return
      case "answer":
        this.#isolates.get(message.isolate)?.answer(message)
        return
      case "stop":
        this.#isolates.get(message.isolate)?.stop(message.run, message.reason)
        return
      case "ask":
        this.#isolates.get(message.isolate)?.ask(message.run)
        return
      case "drop":
        this.#isolates.get(message.isolate)?.drop()
        return
      case "boot":
        throw new Error("a runner boots once")
    }
  }

  admit(isolate: GuestIsolate): void {
    if (this.#entered < this.limits.entered) this.#enter(isolate)
    else this.#waiting.push(isolate)
  }

  left(isolate: GuestIsolate): void {
    this.#inside.delete(isolate)
    if (isolate.overran) {
      isolate.overran = false
      this.#overruns--
    } else {
      this.#entered--
    }
    this.#next()
  }

  removed(isolate: GuestIsolate): void {
    this.#isolates.delete(isolate.id)
  }

  #load(message: Extract<ToRunner, { readonly kind: "load" }>): void {
    const isolate = new GuestIsolate(message.isolate, this)
    this.#isolates.set(message.isolate, isolate)
    this.#inside.add(isolate)
    this.#watch()
    void isolate.load(message).finally(() => {
      if (!isolate.isEntered) this.#inside.delete(isolate)
    })
  }

  #enter(isolate: GuestIsolate): void {
    this.#entered++
    this.#inside.add(isolate)
    this.#watch()
    isolate.enter()
  }

  #next(): void {
    while (this.#entered < this.limits.entered) {
      const isolate = this.#waiting.shift()
      if (isolate === undefined) return
      this.#enter(isolate)
    }
  }

  /** The clock of the watch runs only while there is something to watch. */
  #watch(): void {
    this.#watching ??= setInterval(() => {
      if (this.#inside.size === 0) {
        clearInterval(this.#watching)
        this.#watching = undefined
        return
      }
      const now = performance.now()
      for (const isolate of this.#inside) {
        isolate.watch(now)
        this.#putAside(isolate, now)
      }
    }, watchMs)
  }

  /** An entry that takes long gives up its turn to others; the operating system shares the processors from there. */
  #putAside(isolate: GuestIsolate, now: number): void {
    if (isolate.overran || !isolate.isEntered || !isolate.isBusy(now) || this.#overruns >= overrunsMax) return
    isolate.overran = true
    this.#overruns++
    this.#entered--
    this.#next()
  }
}
