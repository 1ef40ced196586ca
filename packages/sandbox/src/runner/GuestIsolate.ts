/**
 * One isolate with one bundle: its queue of messages, its output, and the limits for which it is ended.
 *
 * At most one entry is in progress at a time. An entry takes a batch from the queue, calls the kernel once per message,
 * and then drains its output. All of it runs on the engine's thread pool, so this event loop stays free to supervise.
 */
import type { RequestBody } from "@weft/core/adapter"
import ivm from "isolated-vm"
import type { LoadFailure, LossCause, RunEndMessage } from "../protocol/FromRunner.ts"
import type { StopReason, ToRunner } from "../protocol/ToRunner.ts"
import { triggers } from "../protocol/ToRunner.ts"
import { CpuSlice } from "./CpuSlice.ts"
import { GuestCrypto } from "./crypto/GuestCrypto.ts"
import type { EngineContext } from "./EngineContext.ts"
import { HeapSampler } from "./HeapSampler.ts"
import { IdleWatch } from "./IdleWatch.ts"
import { type IsolateEvent, type IsolateState, transition } from "./IsolateState.ts"
import { type KernelMessage, messageKinds } from "./KernelMessage.ts"
import { enter, type KernelHandle, loadBundle, makeCodeCache, parseErrorParts } from "./KernelScript.ts"
import { MessageQueue } from "./MessageQueue.ts"
import { type OutputFrame, readOutput } from "./OutputFrames.ts"
import { processorMs } from "./ProcessorTime.ts"
import { toCallOrLog, toLoadTimeout, toRunEnd } from "./RunMessages.ts"
import { type RunRecord, RunTable } from "./RunTable.ts"

type Load = Extract<ToRunner, { readonly kind: "load" }>
type Invoke = Extract<ToRunner, { readonly kind: "invoke" }>
type CallResult = Extract<ToRunner, { readonly kind: "hostCallResult" }>

/** A longer entry no longer keeps other isolates from computing. It is reported as busy if it computes. */
const busyMs = 20
/** Processor time from which a long entry computes. On a busy machine, an entry may take long without a processor. */
const computedMs = 4
/** Maximum time for a stopped run to stop computing before its isolate is ended. */
const stopGraceMs = 20
/** Processor time after which a disposed isolate that still computes counts as impossible to stop. */
const settleMs = 200
/** Maximum waits of `settleMs` if the process as a whole has not used that much processor time. */
const settleTries = 10
const loadSlackMs = 300

export class GuestIsolate {
  readonly id: number
  readonly owner: number
  /** True if its current entry no longer counts towards the limit of computing isolates. */
  overran = false
  readonly #engine: EngineContext
  readonly #heap: HeapSampler
  readonly #crypto: GuestCrypto
  readonly #isolate: ivm.Isolate
  readonly #progressMemory = new SharedArrayBuffer(8)
  readonly #progress = new Int32Array(this.#progressMemory)
  readonly #runs = new RunTable()
  readonly #queue = new MessageQueue()
  #kernel: KernelHandle | undefined
  #state: IsolateState = { name: "loading", since: performance.now() }
  readonly #slice = new CpuSlice()
  readonly #idle = new IdleWatch()

  constructor(id: number, owner: number, host: EngineContext) {
    this.id = id
    this.owner = owner
    this.#engine = host
    this.#crypto = new GuestCrypto(host.crypto, host.limits)
    this.#isolate = new ivm.Isolate({
      memoryLimit: host.limits.heapBytes / 1024 / 1024,
      onCatastrophicError: () => this.#catastrophicError()
    })
    this.#heap = new HeapSampler(this.#isolate, host.limits.bufferBytes)
  }

  /** Loads the bundle. Every failure becomes a message. */
  async load(load: Load): Promise<void> {
    const startedAt = performance.now()
    const isLate = () => performance.now() - startedAt >= this.#engine.limits.loadMs
    try {
      const { kernel, text } = await loadBundle(this.#isolate, this.#progressMemory, this.#engine, load)
      const failed = text.startsWith("!")
      const cache =
        load.describe && !failed ? await makeCodeCache(this.#isolate, load.script, "weft:bundle") : new Uint8Array(0)
      this.#transition({ kind: "exit" })
      if (this.#isDisposed) return
      if (failed) return this.#loadFailed(isLate() ? "timeout" : "threw", ...parseErrorParts(text.slice(1)))
      this.#kernel = kernel
      this.#engine.send(this.id, { kind: "loaded", isolate: this.id, exports: load.describe ? text : "", cache })
      this.#idle.begin(this.#cpuMs())
      void this.#sampleHeap()
      this.#pump()
    } catch (error) {
      if (this.#state.name === "loading" || this.#state.name === "stopping") this.#transition({ kind: "exit" })
      if (this.#isDisposed) return
      const message = error instanceof Error ? error.message : ""
      const failure = isLate() ? "timeout" : /memory limit|disposed/.test(message) ? "memory" : "threw"
      this.#loadFailed(failure, "Error", message, "")
    }
  }

  invoke(message: Invoke): void {
    if (this.#isDisposed) return
    const { run, trigger, fn, svc, body } = message
    this.#runs.add(run)
    this.#push(messageKinds.invoke, run, triggers.indexOf(trigger), fn, svc, body)
  }

  hostCallResult(message: CallResult): void {
    if (this.#isDisposed || this.#runs.get(message.run) === undefined) return
    this.#push(
      message.ok ? messageKinds.resolve : messageKinds.reject,
      message.run,
      message.call,
      message.text,
      message.detail
    )
  }

  /** Stops a run: at once if it is not computing. If it computes and does not stop, the isolate ends. */
  stop(run: number, reason: StopReason): void {
    const record = this.#runs.get(run)
    if (record === undefined || this.#isDisposed) return
    if (this.#queue.removeInvoke(run)) {
      this.#end({ kind: "stopped", run, ...this.#usage(record) })
      return
    }
    record.stopRequestedAt = performance.now()
    this.#push(messageKinds.stop, run, 0, reason, "")
  }

  /** Sends the age of a run. */
  reportAge(run: number): void {
    const ms = this.#runs.ageMs(run, performance.now())
    if (ms !== undefined) this.#engine.send(this.id, { kind: "runAge", run, ms })
  }

  /** Enters the isolate. Called by the engine after `admit`. */
  enter(): void {
    const kernel = this.#kernel
    if (this.#isDisposed || kernel === undefined) {
      this.#engine.exited(this)
      return
    }
    const batch = this.#queue.take()
    const now = performance.now()
    this.#transition({ kind: "enter", now })
    this.#slice.begin(now)
    const cpuBefore = this.#cpuMs()
    this.#runs.begin(batch, now)
    enter(kernel, batch).then(
      (text) => this.#entryEnded(batch, cpuBefore, text),
      (error: unknown) => this.#entryFailed(error)
    )
  }

  /** Checks the load or entry in progress; called every few milliseconds. */
  watch(now: number): void {
    const state = this.#state
    if (state.name === "loading") this.#watchLoad(now, state.since)
    if (state.name !== "running") return
    this.#slice.watch(now, this.#progress[1] ?? 0)
    const run = this.#progress[0] ?? 0
    if (now - state.since >= busyMs && !state.isBusyReported && this.#slice.hasComputed(computedMs)) {
      this.#transition({ kind: "reportBusy" })
      this.#engine.send(this.id, { kind: "busy", isolate: this.id, run })
    }
    if (this.#slice.isExceeded(now, this.#engine.limits.cpuSliceMs)) {
      this.terminate("cpu", run)
      return
    }
    this.#checkStops(now, run)
  }

  /** Checks for computing outside of entries; called every 100 ms. */
  watchIdle(): void {
    if (this.#heap.isSampling || this.#isDisposed || this.#occupiedSince !== undefined) return
    if (this.#idle.isComputing(this.#cpuMs(), processorMs())) this.terminate("background", 0)
  }

  /** True if an entry that the engine counts is in progress. */
  get isEntered(): boolean {
    const state = this.#state
    return state.name === "running" || (state.name === "stopping" && state.isEntry)
  }

  isBusy(now: number): boolean {
    const since = this.#occupiedSince
    return since !== undefined && now - since >= busyMs
  }

  /** Ends the isolate and all its runs, and reports the loss. */
  terminate(cause: LossCause, computing: number, spent: number = this.#spentMs()): void {
    if (this.#isDisposed) return
    const cpuMs = this.#runs.cpuMs(computing) + spent
    this.#engine.send(this.id, { kind: "lost", isolate: this.id, cause, computing, cpuMs, heapBytes: this.#heap.bytes })
    this.dispose()
    if (this.#occupiedSince !== undefined) this.#awaitExit(processorMs(), settleTries)
  }

  /** Reports the runner as unresponsive if the entry does not end in time. Without processor time it gets more time. */
  #awaitExit(since: number, tries: number): void {
    setTimeout(() => {
      if (this.#occupiedSince === undefined) return
      if (processorMs() - since < settleMs && tries > 1) this.#awaitExit(since, tries - 1)
      else this.#engine.send(this.id, { kind: "unresponsive", isolate: this.id })
    }, settleMs)
  }

  /** Ends the isolate without a message. */
  dispose(): void {
    if (this.#isDisposed) return
    this.#transition({ kind: "dispose" })
    this.#runs.clear()
    this.#queue.clear()
    this.#crypto.dispose()
    this.#engine.removed(this)
    try {
      this.#isolate.dispose()
    } catch {
      // Already disposed by its memory limit.
    }
  }

  #loadFailed(failure: LoadFailure, name: string, message: string, stack: string): void {
    this.#engine.send(this.id, { kind: "loadFailed", isolate: this.id, failure, name, message, stack })
    this.dispose()
  }

  #push(kind: number, run: number, a: number, text: string, detail: string, body: RequestBody | null = null): void {
    this.#queue.push({ kind, run, a, text, detail, body })
    if (this.#state.name !== "idle") return
    this.#transition({ kind: "schedule" })
    // After the whole chunk of the socket has been read, so that its messages enter together.
    queueMicrotask(() => {
      if (this.#state.name !== "scheduled") return
      this.#transition({ kind: "flush" })
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#state.name !== "idle" || this.#queue.isEmpty) return
    this.#transition({ kind: "request" })
    this.#engine.admit(this)
  }

  #entryEnded(batch: ReadonlyArray<KernelMessage>, cpuBefore: number, text: string): void {
    const now = performance.now()
    this.#queue.recordEntry(batch.length, now - (this.#occupiedSince ?? now))
    this.#exit()
    if (this.#isDisposed) return
    try {
      const frames = readOutput(text)
      this.#runs.chargeCpu(batch, frames, this.#cpuMs() - cpuBefore)
      for (const frame of frames) this.#receive(frame)
    } catch {
      this.terminate("broken", 0)
      return
    }
    this.#idle.begin(this.#cpuMs())
    if (this.#heap.isDue) void this.#sampleHeap()
    this.#pump()
  }

  #entryFailed(error: unknown): void {
    const spent = this.#spentMs()
    this.#exit()
    if (this.#isDisposed) return
    // The engine itself ends an isolate for one reason only: it exceeded its memory limit.
    const message = error instanceof Error ? error.message : ""
    const overLimit = this.#isolate.isDisposed || /memory|disposed/.test(message)
    this.terminate(overLimit ? "memory" : "broken", this.#progress[0] ?? 0, spent)
  }

  /** Returns the time of the current slice, in milliseconds; 0 outside of an entry. */
  #spentMs(): number {
    return this.#occupiedSince === undefined ? 0 : performance.now() - this.#slice.startedAt
  }

  #exit(): void {
    const state = this.#state
    this.#transition({ kind: "exit" })
    if (state.name === "running" && state.isBusyReported) this.#engine.send(this.id, { kind: "idle", isolate: this.id })
    this.#engine.exited(this)
  }

  #receive(frame: OutputFrame): void {
    const { run, a, b } = frame
    const record = this.#runs.get(run)
    if (record === undefined || frame.letter === "W") return
    const end = toRunEnd(frame, this.#usage(record))
    if (end !== undefined) {
      this.#end(end)
      return
    }
    const message = toCallOrLog(frame)
    if (message !== undefined) {
      this.#engine.send(this.id, message)
      return
    }
    switch (frame.letter) {
      case "T":
        this.#runs.startTimer(run, a, b, () => this.#push(messageKinds.timer, run, a, "", ""))
        return
      case "U":
        this.#runs.stopTimer(run, a)
        return
      case "K":
        this.#compute(frame, record)
        return
      default:
        throw new Error(`an output frame of unknown kind ${frame.letter}`)
    }
  }

  #compute({ run, a, first, second }: OutputFrame, record: RunRecord): void {
    this.#crypto.submit({
      request: first,
      bytes: second,
      isWanted: () => this.#runs.get(run) === record,
      settle: (ok, text, detail, ms) => {
        if (this.#runs.get(run) !== record) return
        record.cpuMs += ms
        this.#push(ok ? messageKinds.resolve : messageKinds.reject, run, a, text, detail)
      },
      overran: () => {
        this.terminate("cpu", run, this.#engine.limits.cryptoMs)
        this.#engine.send(this.id, { kind: "unresponsive", isolate: this.id })
      }
    })
  }

  #end(message: RunEndMessage): void {
    this.#runs.end(message.run)
    this.#engine.send(this.id, message)
  }

  #usage(record: RunRecord): { readonly cpuMs: number; readonly heapBytes: number } {
    return { cpuMs: record.cpuMs, heapBytes: this.#heap.bytes }
  }

  /** Ends the isolate if a stopped run still computes. A stopped run that only waits for the isolate just ends. */
  #checkStops(now: number, computing: number): void {
    for (const [run, record] of this.#runs.entries()) {
      if (record.stopRequestedAt === 0) continue
      const since = Math.max(record.stopRequestedAt, this.#slice.startedAt)
      if (run === computing) {
        if (now - since >= stopGraceMs) {
          this.terminate("stopped", run)
          return
        }
      } else if (now - record.stopRequestedAt >= stopGraceMs) {
        this.#end({ kind: "stopped", run, ...this.#usage(record) })
      }
    }
  }

  #watchLoad(now: number, since: number): void {
    if (now - since < this.#engine.limits.loadMs + loadSlackMs) return
    this.#engine.send(this.id, toLoadTimeout(this.id, this.#engine.limits.loadMs))
    this.terminate("cpu", 0)
  }

  /** Handles a fatal error of the engine: its thread is blocked until the process ends. */
  #catastrophicError(): void {
    this.terminate("memory", this.#progress[0] ?? 0)
    this.#engine.send(this.id, { kind: "unresponsive", isolate: this.id })
  }

  async #sampleHeap(): Promise<void> {
    const verdict = await this.#heap.sample()
    if (verdict === "over") this.terminate("memory", this.#progress[0] ?? 0)
    else if (verdict === "draining" && !this.#isDisposed)
      this.#engine.send(this.id, { kind: "draining", isolate: this.id })
    // The sample itself counts as time in the isolate, much of it on a busy machine: do not charge it to the guest.
    this.#idle.begin(this.#cpuMs())
  }

  /** Start of the load or entry in progress, on the monotonic clock; undefined without one. */
  get #occupiedSince(): number | undefined {
    const state = this.#state
    return "since" in state ? state.since : undefined
  }

  get #isDisposed(): boolean {
    return this.#state.name === "stopping" || this.#state.name === "disposed"
  }

  #transition(event: IsolateEvent): void {
    this.#state = transition(this.#state, event)
  }

  /** Returns the total time in the isolate, in milliseconds; 0 if the engine ended it, which is reported elsewhere. */
  #cpuMs(): number {
    try {
      return Number(this.#isolate.cpuTime) / 1e6
    } catch {
      return 0
    }
  }
}
