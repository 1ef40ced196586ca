/** An open file of `node:fs/promises`. */
import { Buffer } from "node:buffer"
import { operations } from "./operations.ts"
import type { Stats } from "./Stats.ts"

export class FileHandle {
  readonly fd: number

  constructor(fd: number) {
    this.fd = fd
  }

  async read(target: Uint8Array = Buffer.alloc(16_384), offset?: number, length?: number, position?: number | null) {
    return { bytesRead: operations.read(this.fd, target, offset, length, position), buffer: target }
  }
  async write(data: unknown, ...rest: ReadonlyArray<unknown>) {
    return { bytesWritten: operations.write(this.fd, data, ...rest), buffer: data }
  }
  async readFile(options?: BufferEncoding | null): Promise<Buffer | string> {
    return operations.readFile(this.fd, options)
  }
  async writeFile(data: unknown): Promise<void> {
    operations.writeFile(this.fd, data)
  }
  async appendFile(data: unknown): Promise<void> {
    operations.writeFile(this.fd, data)
  }
  async stat(): Promise<Stats> {
    return operations.fstat(this.fd)
  }
  async truncate(length?: number): Promise<void> {
    operations.ftruncate(this.fd, length)
  }
  async sync(): Promise<void> {}
  async datasync(): Promise<void> {}
  async close(): Promise<void> {
    operations.close(this.fd)
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
