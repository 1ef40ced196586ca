/**
 * Memory budget for all buffered bodies together: JSON, webhooks, MCP messages and build uploads. Anybody may send a body,
 * and a webhook's body is in memory before the function can authenticate its caller.
 */
export class BodyMemoryBudget {
  /** Maximum size of one body, in bytes. Build uploads have a limit of their own. */
  readonly maxBodyBytes: number
  readonly #totalBytes: number
  #reservedBytes = 0

  constructor(maxBodyBytes: number, totalBytes: number) {
    this.maxBodyBytes = maxBodyBytes
    this.#totalBytes = totalBytes
  }

  get reservedBytes(): number {
    return this.#reservedBytes
  }

  /** Reserves bytes. Returns false if they exceed the budget. */
  reserve(bytes: number): boolean {
    if (this.#reservedBytes + bytes > this.#totalBytes) return false
    this.#reservedBytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#reservedBytes -= bytes
  }
}
