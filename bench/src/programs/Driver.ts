/** Measures a program in its own process, with the same code for all programs. */
import { deepStrictEqual } from "node:assert"
import { setTimeout as sleep } from "node:timers/promises"
import type { Figures, Measurement } from "./Command.ts"
import { type JobProgram, toResult } from "./JobProgram.ts"
import { quantile } from "./quantile.ts"
import { alignWallClock, wallNow } from "./WallClock.ts"

const pollMs = 20

/** Maximum time between two finished jobs, in milliseconds; then the program counts as broken. */
const stallMs = 30_000

/** Number of results that are read back after each round. */
const readBack = 20

/** Maximum random pause before a latency sample, in milliseconds, so that samples meet timers at any phase. */
const pauseMsMax = 12

export class Driver {
  readonly #program: JobProgram
  /** Number of the next job. */
  #next = 0
  /** Number of published jobs, without flows. */
  #published = 0
  #flows = 0

  constructor(program: JobProgram) {
    this.#program = program
  }

  measure(measurement: Measurement): Promise<Figures> {
    switch (measurement.kind) {
      case "oneByOne":
        return this.#oneByOne(measurement)
      case "bulk":
        return this.#bulk(measurement)
      case "latency":
        return this.#latency(measurement)
      case "flows":
        return this.#flowing(measurement)
      default:
        throw new Error(`A job program cannot measure ${measurement.kind}`)
    }
  }

  async #oneByOne({ publishers, seconds, jobsMax }: Measurement & { kind: "oneByOne" }): Promise<Figures> {
    const first = this.#next
    const began = performance.now()
    const isOver = () => performance.now() - began > seconds * 1000 || this.#next - first >= jobsMax
    const publisher = async (): Promise<void> => {
      while (!isOver()) {
        await this.#program.publish(this.#next++)
        this.#published++
      }
    }
    await Promise.all(Array.from({ length: publishers }, publisher))
    return this.#rates(first, began, performance.now())
  }

  async #bulk({ jobs, batch }: Measurement & { kind: "bulk" }): Promise<Figures> {
    const first = this.#next
    const began = performance.now()
    for (let done = 0; done < jobs; done += batch) {
      const from = this.#next
      this.#next += batch
      await this.#program.publishMany(from, batch)
      this.#published += batch
    }
    return this.#rates(first, began, performance.now())
  }

  /** Waits until all jobs are finished, and reads some results back. */
  async #rates(first: number, began: number, published: number): Promise<Figures> {
    await this.#allFinished()
    const finished = performance.now()
    await this.#readBack(first)
    const jobs = this.#next - first
    return {
      jobs,
      publishedPerSecond: jobs / ((published - began) / 1000),
      finishedPerSecond: jobs / ((finished - began) / 1000)
    }
  }

  async #readBack(first: number): Promise<void> {
    const { result } = this.#program
    const step = Math.max(1, Math.floor((this.#next - first) / readBack))
    for (let n = first; result !== undefined && n < this.#next; n += step) {
      deepStrictEqual(await result(n), toResult(n), `The result of job ${n} is not stored`)
    }
  }

  async #allFinished(): Promise<void> {
    let last = -1
    let lastAt = performance.now()
    for (;;) {
      const finished = await this.#program.finished()
      if (finished === this.#published) return
      if (finished > this.#published) throw new Error(`${finished} of ${this.#published} jobs are finished`)
      if (finished !== last) {
        last = finished
        lastAt = performance.now()
      } else if (performance.now() - lastAt > stallMs) {
        throw new Error(`${finished} of ${this.#published} jobs are finished, and no further one within ${stallMs} ms`)
      }
      await sleep(pollMs)
    }
  }

  async #latency({ samples }: Measurement & { kind: "latency" }): Promise<Figures> {
    alignWallClock()
    const published: Array<number> = []
    const started: Array<number> = []
    for (let sample = 0; sample < samples; sample++) {
      const n = this.#next++
      const sentAt = wallNow()
      await this.#program.publish(n)
      published.push(wallNow() - sentAt)
      this.#published++
      started.push((await this.#program.startedAt(n)) - sentAt)
      await this.#allFinished()
      await sleep(Math.ceil(Math.random() * pauseMsMax))
    }
    return {
      publishedP50Ms: quantile(published, 0.5),
      startedP50Ms: quantile(started, 0.5),
      startedP99Ms: quantile(started, 0.99)
    }
  }

  async #flowing({ samples, atOnce, seconds }: Measurement & { kind: "flows" }): Promise<Figures> {
    const { flow } = this.#program
    if (flow === undefined) throw new Error("The program does not implement flow()")
    const taken: Array<number> = []
    for (let sample = 0; sample < samples; sample++) {
      const began = performance.now()
      await flow(this.#flows++)
      taken.push(performance.now() - began)
    }
    const first = this.#flows
    const began = performance.now()
    const starter = async (): Promise<void> => {
      while (performance.now() - began < seconds * 1000) await flow(this.#flows++)
    }
    await Promise.all(Array.from({ length: atOnce }, starter))
    const elapsed = (performance.now() - began) / 1000
    return {
      flowP50Ms: quantile(taken, 0.5),
      flowP99Ms: quantile(taken, 0.99),
      flowsPerSecond: (this.#flows - first) / elapsed
    }
  }
}
