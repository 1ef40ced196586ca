/** Resident memory of this process. */
export class ResidentMemory {
  #bytes = 0

  /** Returns the memory in bytes. Without a free file descriptor, where Node cannot read `/proc`, returns the last value. */
  read(): number {
    try {
      this.#bytes = process.memoryUsage.rss()
    } catch {
      // The system has no descriptor for this process, or none at all. A runner must still send heartbeats.
    }
    return this.#bytes
  }
}
