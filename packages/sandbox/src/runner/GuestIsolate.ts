/**
 * One isolate with one bundle: what waits to go in, what comes out, and what it may be ended for.
 *
 * At most one entry is in progress at a time. An entry takes a portion of what waits, one call of the kernel for each
 * message, and one drain behind them; all of it runs on the engine's thread pool, so this loop stays free to police.
 */
import type { RequestBody } from "@weft/core"
import ivm from "isolated-vm"
import { type FromRunner, type LoadFailure, type LossCause, logLevels } from "../protocol/FromRunner.ts"
import type { RunnerLimits } from "../protocol/RunnerLimits.ts"
import type { StopReason, ToRunner } from "../protocol/ToRunner.ts"
import { triggers } from "../protocol/ToRunner.ts"
import { Backlog } from "./Backlog.ts"
import { Buffers } from "./Buffers.ts"
import { cacheOf, describedParts, enter, type Guest, type KernelHandle, loadBundle } from "./Guest.ts"
import { type OutboxFrame, readOutbox } from "./Outbox.ts"
import { entries, type Pending } from "./Pending.ts"
import { processorMs } from "./ProcessorTime.ts"
import { RunBook, type RunRecord } from "./RunBook.ts"
import { endOf, type RunEnd } from "./RunEnd.ts"
import { Stretch } from "./Stretch.ts"

type Load = Extract<ToRunner, { readonly kind: "load" }>
type Invoke = Extract<ToRunner, { readonly kind: "invoke" }>
type Answer = Extract<ToRunner, { readonly kind: "answer" }>

/** What the isolate asks of the engine that holds it. */
export interface IsolateHost {
  readonly limits: RunnerLimits
  readonly guest: Guest
  readonly send: (message: FromRunner) => void
  /** Asks for the right to compute; `enter` is called when it is granted. */
  readonly admit: (isolate: GuestIsolate) => void
  /** The right to compute is handed back. */
  readonly left: (isolate: GuestIsolate) => void
  readonly removed: (isolate: GuestIsolate) => void
}

/** An entry longer than this is announced, and no longer keeps others from computing. */
const busyMs = 20
/** How long a stopped run may go on computing before its isolate is ended. */
const stopGraceMs = 20
/** A disposed isolate that has not come to rest by then never will. */
const settleMs = 200
/** How often that is waited for where the process as a whole has not used so much of the processor meanwhile. */
const settleTries = 10
const heapSampleMs = 500
/** Computing outside of any entry, in all; only the engine's own housekeeping does that, and takes far less. */
const backgroundMs = 150
const loadSlackMs = 300

export class GuestIsolate {
  readonly id: number
  /** Whether its current entry no longer counts as one of those that may compute. */
  overran = false
  readonly #host: IsolateHost
  readonly #buffers: Buffers
  readonly #isolate: ivm.Isolate
  readonly #mark = new SharedArrayBuffer(8)
  readonly #marked = new Int32Array(this.#mark)
  readonly #runs = new RunBook()
  readonly #backlog = new Backlog()
  #kernel: KernelHandle | undefined
  #dead = false
  #asked = false
  #scheduled = false
  /** Since when something of ours has been inside, on the monotonic clock; 0 when nothing is. */
  #insideSince = 0
  readonly #stretch = new Stretch()
  #entered = false
  #announced = false
  #heapBytes = 0
  #heapSampledAt = 0
  #sampling = false
  #restCpuMs = 0

  constructor(id: number, host: IsolateHost) {
    this.id = id
    this.#host = host
    this.#buffers = new Buffers(host.limits.bufferBytes)
    this.#isolate = new ivm.Isolate({
      memoryLimit: host.limits.heapBytes / 1024 / 1024,
      onCatastrophicError: () => this.#catastrophe()
    })
  }

  /** Loads the bundle. Whatever goes wrong becomes a message. */
  async load(load: Load): Promise<void> {
    const began = performance.now()
    const isLate = () => performance.now() - began >= this.#host.limits.loadMs
    this.#insideSince = began
    try {
      const { kernel, text } = await loadBundle(this.#isolate, this.#mark, this.#host, load)
      const failed = text.startsWith("!")
      const cache =
        load.describe && !failed ? await cacheOf(this.#isolate, load.script, "weft:bundle") : new Uint8Array(0)
      this.#insideSince = 0
      if (this.#dead) return
      if (failed) return this.#loadFailed(isLate() ? "timeout" : "threw", ...describedParts(text.slice(1)))
      this.#kernel = kernel
      this.#host.send({ kind: "loaded", isolate: this.id, exports: load.describe ? text : "", cache })
      this.#restCpuMs = this.#cpuMs()
      void this.#sampleHeap()
      this.#pump()
    } catch (error) {
      this.#insideSince = 0
      if (this.#dead) return
      const message = error instanceof Error ? error.message : ""
      const failure = isLate() ? "timeout" : /memory limit|disposed/.test(message) ? "memory" : "threw"
      this.#loadFailed(failure, "Error", message, "")
    }
  }

  invoke(message: Invoke): void {
    if (this.#dead) return
    this.#runs.add(message.run)
    this.#push(entries.invoke, message.run, triggers.indexOf(message.trigger), message.fn, message.svc, message.body)
  }

  answer(message: Answer): void {
    if (this.#dead || this.#runs.get(message.run) === undefined) return
    this.#push(message.ok ? entries.answer : entries.refuse, message.run, message.call, message.text, message.detail)
  }

  /** Ends a run: at once where it is not computing, by ending the isolate where it is and does not stop. */
  stop(run: number, reason: StopReason): void {
    const record = this.#runs.get(run)
    if (record === undefined || this.#dead) return
    if (this.#backlog.withdraw(run)) {
      this.#end({ kind: "stopped", run, ...this.#usage(record) })
      return
    }
    record.stopAskedAt = performance.now()
    this.#push(entries.stop, run, 0, reason, "")
  }

  /** Says how long a run has been going on. */
  ask(run: number): void {
    const ms = this.#runs.ageMs(run, performance.now())
    if (ms !== undefined) this.#host.send({ kind: "begun", run, ms })
  }

  /** Called by the engine when it is this isolate's turn. */
  enter(): void {
    this.#asked = false
    const kernel = this.#kernel
    if (this.#dead || kernel === undefined) {
      this.#host.left(this)
      return
    }
    this.#entered = true
    const batch = this.#backlog.take()
    const now = performance.now()
    this.#insideSince = now
    this.#stretch.begin(now)
    const cpuBefore = this.#cpuMs()
    this.#runs.begin(batch, now)
    enter(kernel, batch).then(
      (text) => this.#leave(batch, cpuBefore, text),
      (error: unknown) => this.#leaveFailed(error)
    )
  }

  /** Called every few milliseconds while anything is inside. */
  watch(now: number): void {
    if (this.#insideSince === 0 || this.#dead) return
    if (this.#kernel === undefined) {
      this.#watchLoad(now)
      return
    }
    this.#stretch.watch(now, this.#marked[1] ?? 0)
    const run = this.#marked[0] ?? 0
    if (now - this.#insideSince >= busyMs && !this.#announced) {
      this.#announced = true
      this.#host.send({ kind: "busy", isolate: this.id, run })
    }
    if (this.#stretch.isOver(now, this.#host.limits.cpuSliceMs)) {
      this.condemn("cpu", run)
      return
    }
    this.#watchStops(now, run)
  }

  /** Called now and then while nothing is inside. */
  watchRest(): void {
    if (this.#insideSince !== 0 || this.#sampling || this.#dead || this.#kernel === undefined) return
    if (this.#cpuMs() - this.#restCpuMs > backgroundMs) this.condemn("background", 0)
  }

  /** Whether an entry is in progress, counted by the engine. */
  get isEntered(): boolean {
    return this.#entered
  }

  isBusy(now: number): boolean {
    return this.#insideSince !== 0 && now - this.#insideSince >= busyMs
  }

  /** Ends the isolate and all that runs in it. */
  condemn(cause: LossCause, guilty: number, spent: number = this.#spentMs()): void {
    if (this.#dead) return
    const cpuMs = this.#runs.cpuMs(guilty) + spent
    this.#host.send({ kind: "lost", isolate: this.id, cause, guilty, cpuMs, heapBytes: this.#heapBytes })
    this.drop()
    if (this.#insideSince !== 0) this.#awaitRest(processorMs(), settleTries)
  }

  /** Whoever has had no processor since is given some more time. */
  #awaitRest(since: number, tries: number): void {
    setTimeout(() => {
      if (this.#insideSince === 0) return
      if (processorMs() - since < settleMs && tries > 1) this.#awaitRest(since, tries - 1)
      else this.#host.send({ kind: "sick", isolate: this.id })
    }, settleMs)
  }

  /** Ends the isolate without a word. */
  drop(): void {
    if (this.#dead) return
    this.#dead = true
    this.#runs.clear()
    this.#backlog.clear()
    this.#host.removed(this)
    try {
      this.#isolate.dispose()
    } catch {
      // Already disposed by its memory limit.
    }
  }

  #loadFailed(failure: LoadFailure, name: string, message: string, stack: string): void {
    this.#host.send({ kind: "loadFailed", isolate: this.id, failure, name, message, stack })
    this.drop()
  }

  #push(kind: number, run: number, a: number, text: string, detail: string, body: RequestBody | null = null): void {
    this.#backlog.push({ kind, run, a, text, detail, body })
    if (this.#scheduled || this.#insideSince !== 0) return
    this.#scheduled = true
    // After the whole chunk of the socket has been read, so that its messages go in together.
    queueMicrotask(() => {
      this.#scheduled = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#dead || this.#asked || this.#insideSince !== 0) return
    if (this.#kernel === undefined || this.#backlog.isEmpty) return
    this.#asked = true
    this.#host.admit(this)
  }

  #leave(batch: ReadonlyArray<Pending>, cpuBefore: number, text: string): void {
    this.#backlog.took(batch.length, performance.now() - this.#insideSince)
    this.#comeToRest()
    if (this.#dead) return
    try {
      const frames = readOutbox(text)
      this.#runs.charge(batch, frames, this.#cpuMs() - cpuBefore)
      for (const frame of frames) this.#receive(frame)
    } catch {
      this.condemn("broken", 0)
      return
    }
    this.#restCpuMs = this.#cpuMs()
    if (performance.now() - this.#heapSampledAt > heapSampleMs) void this.#sampleHeap()
    this.#pump()
  }

  #leaveFailed(error: unknown): void {
    const spent = this.#spentMs()
    this.#comeToRest()
    if (this.#dead) return
    // An isolate that nobody condemned ends itself for one reason only: it is over its memory limit.
    const message = error instanceof Error ? error.message : ""
    const overLimit = this.#isolate.isDisposed || /memory|disposed/.test(message)
    this.condemn(overLimit ? "memory" : "broken", this.#marked[0] ?? 0, spent)
  }

  /** How long the run that is computing has been at it since the watch last saw another. */
  #spentMs(): number {
    return this.#insideSince === 0 ? 0 : performance.now() - this.#stretch.since
  }

  #comeToRest(): void {
    this.#insideSince = 0
    if (this.#announced && !this.#dead) this.#host.send({ kind: "calm", isolate: this.id })
    this.#announced = false
    this.#entered = false
    this.#host.left(this)
  }

  #receive(frame: OutboxFrame): void {
    const { run, a, b, first, second } = frame
    const record = this.#runs.get(run)
    if (record === undefined || frame.letter === "W") return
    const end = endOf(frame, this.#usage(record))
    if (end !== undefined) {
      this.#end(end)
      return
    }
    switch (frame.letter) {
      case "C":
        this.#host.send({ kind: "call", run, call: a, op: first, payload: second })
        return
      case "L":
        this.#host.send({
          kind: "log",
          run,
          level: logLevels[a] ?? "info",
          message: first,
          data: b === 1 ? second : null
        })
        return
      case "T":
        this.#runs.startTimer(run, a, b, () => this.#push(entries.timer, run, a, "", ""))
        return
      case "U":
        this.#runs.stopTimer(run, a)
        return
      default:
        throw new Error("an outbox frame of unknown kind")
    }
  }

  #end(message: RunEnd): void {
    this.#runs.end(message.run)
    this.#host.send(message)
  }

  #usage(record: RunRecord): { readonly cpuMs: number; readonly heapBytes: number } {
    return { cpuMs: record.cpuMs, heapBytes: this.#heapBytes }
  }

  /** A run that was told to stop and still computes takes its isolate with it; one that merely waits its turn does not. */
  #watchStops(now: number, computing: number): void {
    for (const [run, record] of this.#runs.entries()) {
      if (record.stopAskedAt === 0) continue
      const since = Math.max(record.stopAskedAt, this.#stretch.since)
      if (run === computing) {
        if (now - since >= stopGraceMs) {
          this.condemn("stopped", run)
          return
        }
      } else if (now - record.stopAskedAt >= stopGraceMs) {
        this.#end({ kind: "stopped", run, ...this.#usage(record) })
      }
    }
  }

  #watchLoad(now: number): void {
    if (now - this.#insideSince < this.#host.limits.loadMs + loadSlackMs) return
    this.#host.send({
      kind: "loadFailed",
      isolate: this.id,
      failure: "timeout",
      name: "Error",
      message: "the bundle did not load in time",
      stack: ""
    })
    this.condemn("cpu", 0)
  }

  /** The engine lost control: the thread is parked for good and only the end of the process frees it. */
  #catastrophe(): void {
    this.condemn("memory", this.#marked[0] ?? 0)
    this.#host.send({ kind: "sick", isolate: this.id })
  }

  async #sampleHeap(): Promise<void> {
    this.#heapSampledAt = performance.now()
    this.#sampling = true
    try {
      const heap = await this.#isolate.getHeapStatistics()
      this.#heapBytes = heap.used_heap_size + heap.externally_allocated_size
      const verdict = this.#buffers.judge(heap.externally_allocated_size)
      if (verdict === "over") this.condemn("memory", this.#marked[0] ?? 0)
      else if (verdict === "worn" && !this.#dead) this.#host.send({ kind: "worn", isolate: this.id })
    } catch {
      // Disposed meanwhile: whoever did that has said so.
    } finally {
      // Looking is time inside as well, and a long one on a busy machine: not the guest's.
      this.#sampling = false
      this.#restCpuMs = this.#cpuMs()
    }
  }

  /** Time inside so far; 0 for an isolate that ended itself, whose end is reported elsewhere. */
  #cpuMs(): number {
    try {
      return Number(this.#isolate.cpuTime) / 1e6
    } catch {
      return 0
    }
  }
}
