/** All isolates of this process: admits them to compute, and supervises those that do. */
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { ToRunner } from "../protocol/ToRunner.ts"
import { CryptoQueue } from "./crypto/CryptoQueue.ts"
import type { EngineContext } from "./EngineContext.ts"
import { EntryQueue } from "./EntryQueue.ts"
import { GuestIsolate } from "./GuestIsolate.ts"
import type { KernelScript } from "./KernelScript.ts"

const watchMs = 10
const idleWatchMs = 100
/** Maximum long entries that no longer count as computing: each occupies a thread. */
const overrunCountMax = 14
/** Maximum entries of an owner at a time, with the long ones. */
const enteredPerOwner = 3

export class Engine implements EngineContext {
  readonly limits: RunnerLimits
  readonly guest: KernelScript
  readonly crypto: CryptoQueue
  readonly send: EngineContext["send"]
  readonly #isolates = new Map<number, GuestIsolate>()
  /** Isolates, including disposed ones, with an entry or a load in progress. */
  readonly #occupied = new Set<GuestIsolate>()
  readonly #waiting = new EntryQueue<GuestIsolate>()
  #entered = 0
  /** Entries by owner, with the long ones. */
  readonly #enteredBy = new Map<number, number>()
  #overrunCount = 0
  #watching: NodeJS.Timeout | undefined

  constructor(limits: RunnerLimits, guest: KernelScript, send: EngineContext["send"]) {
    this.limits = limits
    this.guest = guest
    this.crypto = new CryptoQueue(limits.cryptoMs)
    this.send = send
    setInterval(() => {
      for (const isolate of this.#isolates.values()) isolate.watchIdle()
    }, idleWatchMs)
  }

  receive(message: ToRunner): void {
    switch (message.kind) {
      case "load":
        this.#load(message)
        return
      case "invoke":
        this.#isolates.get(message.isolate)?.invoke(message)
        return
      case "hostCallResult":
        this.#isolates.get(message.isolate)?.hostCallResult(message)
        return
      case "stop":
        this.#isolates.get(message.isolate)?.stop(message.run, message.reason)
        return
      case "reportAge":
        this.#isolates.get(message.isolate)?.reportAge(message.run)
        return
      case "dispose":
        this.#isolates.get(message.isolate)?.dispose()
        return
      case "boot":
        throw new Error("a runner received a second `boot` message")
    }
  }

  admit(isolate: GuestIsolate): void {
    if (this.#entered < this.limits.entered && this.#mayEnter(isolate.owner)) this.#enter(isolate)
    else this.#waiting.push(isolate)
  }

  exited(isolate: GuestIsolate): void {
    this.#occupied.delete(isolate)
    this.#count(isolate.owner, -1)
    if (isolate.overran) {
      isolate.overran = false
      this.#overrunCount--
    } else {
      this.#entered--
    }
    this.#enterNext()
  }

  removed(isolate: GuestIsolate): void {
    this.#isolates.delete(isolate.id)
  }

  #load(message: Extract<ToRunner, { readonly kind: "load" }>): void {
    const isolate = new GuestIsolate(message.isolate, message.owner, this)
    this.#isolates.set(message.isolate, isolate)
    this.#occupied.add(isolate)
    this.#watch()
    void isolate.load(message).finally(() => {
      if (!isolate.isEntered) this.#occupied.delete(isolate)
    })
  }

  #enter(isolate: GuestIsolate): void {
    this.#entered++
    this.#count(isolate.owner, 1)
    this.#occupied.add(isolate)
    this.#watch()
    isolate.enter()
  }

  #enterNext(): void {
    while (this.#entered < this.limits.entered) {
      const isolate = this.#waiting.next(this.#mayEnter)
      if (isolate === undefined) return
      this.#enter(isolate)
    }
  }

  readonly #mayEnter = (owner: number): boolean => (this.#enteredBy.get(owner) ?? 0) < enteredPerOwner

  #count(owner: number, change: number): void {
    const count = (this.#enteredBy.get(owner) ?? 0) + change
    if (count === 0) this.#enteredBy.delete(owner)
    else this.#enteredBy.set(owner, count)
  }

  /** Starts the timer that supervises isolates; it stops when none is occupied. */
  #watch(): void {
    this.#watching ??= setInterval(() => {
      if (this.#occupied.size === 0) {
        clearInterval(this.#watching)
        this.#watching = undefined
        return
      }
      const now = performance.now()
      for (const isolate of this.#occupied) {
        isolate.watch(now)
        this.#putAsideLong(isolate, now)
      }
    }, watchMs)
  }

  /** Stops counting a long entry as computing, so that others may enter. The system then shares the processors. */
  #putAsideLong(isolate: GuestIsolate, now: number): void {
    if (isolate.overran || !isolate.isEntered || !isolate.isBusy(now) || this.#overrunCount >= overrunCountMax) return
    isolate.overran = true
    this.#overrunCount++
    this.#entered--
    this.#enterNext()
  }
}
