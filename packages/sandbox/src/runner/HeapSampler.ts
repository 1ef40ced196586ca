/** Samples the heap of an isolate and the memory that it holds outside of it. */
import type ivm from "isolated-vm"
import { BufferMonitor } from "./BufferMonitor.ts"

const intervalMs = 500

export class HeapSampler {
  /** The latest sample of heap and buffers. */
  bytes = 0
  /** True while a sample is in progress, which is independent of the isolate's state. */
  isSampling = false
  readonly #isolate: ivm.Isolate
  readonly #buffers: BufferMonitor
  #sampledAt = 0

  constructor(isolate: ivm.Isolate, bufferBytes: number) {
    this.#isolate = isolate
    this.#buffers = new BufferMonitor(bufferBytes)
  }

  get isDue(): boolean {
    return performance.now() - this.#sampledAt > intervalMs
  }

  /** Takes a sample and returns the state of the buffers; `ok` if the isolate ended in the meantime. */
  async sample(): Promise<"ok" | "draining" | "over"> {
    this.#sampledAt = performance.now()
    this.isSampling = true
    try {
      const heap = await this.#isolate.getHeapStatistics()
      this.bytes = heap.used_heap_size + heap.externally_allocated_size
      return this.#buffers.check(heap.externally_allocated_size)
    } catch {
      return "ok"
    } finally {
      this.isSampling = false
    }
  }
}
