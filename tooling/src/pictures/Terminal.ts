/** Somebody at a terminal: types commands, waits, and can show all of it afterwards. */
import { join } from "node:path"
import { openSession, type Session } from "./PseudoTerminal.ts"
import { type Line, type Size, screenOf } from "./Screen.ts"

export interface Ended {
  readonly seconds: number
  readonly output: string
}

export class Terminal {
  readonly #env: NodeJS.ProcessEnv
  readonly #size: Size
  readonly #written: Array<Uint8Array> = []
  #folder: string
  #running: Session | null = null

  constructor(folder: string, env: NodeJS.ProcessEnv, size: Size) {
    this.#folder = folder
    this.#env = env
    this.#size = size
  }

  get folder(): string {
    return this.#folder
  }

  /** Waits for its end; fails unless that is good. */
  async run(command: string): Promise<Ended> {
    const begun = performance.now()
    const session = this.#begin(command)
    const code = await session.ended
    const bytes = this.#finish(session)
    const output = Buffer.from(bytes).toString("utf8")
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`)
    return { seconds: (performance.now() - begun) / 1000, output }
  }

  cd(folder: string): void {
    this.#prompt(`cd ${folder}`)
    this.#folder = join(this.#folder, folder)
  }

  /** Waits until it has written this, and leaves it running. */
  async start(command: string, ready: RegExp): Promise<Ended> {
    const begun = performance.now()
    const session = this.#begin(command)
    this.#running = session
    await session.until(ready)
    return { seconds: (performance.now() - begun) / 1000, output: Buffer.from(session.bytes()).toString("utf8") }
  }

  /** Until what was started has written this. */
  async until(pattern: RegExp): Promise<void> {
    await this.#running?.until(pattern)
  }

  /** Ctrl-C. */
  async interrupt(): Promise<void> {
    const session = this.#running
    if (session === null) return
    this.#running = null
    session.type("\u0003")
    await session.ended
    this.#finish(session)
  }

  /** All that it shows. `said` is what to write in the place of what only this machine has. */
  lines(said: ReadonlyArray<readonly [from: string, to: string]>): Promise<ReadonlyArray<Line>> {
    const running = this.#running === null ? [] : [this.#running.bytes()]
    let text = Buffer.concat([...this.#written, ...running]).toString("utf8")
    for (const [from, to] of said) text = text.replaceAll(from, to)
    return screenOf(Buffer.from(text), this.#size)
  }

  #begin(command: string): Session {
    this.#prompt(command)
    return openSession(command, { cwd: this.#folder, env: this.#env, size: this.#size })
  }

  #prompt(command: string): void {
    this.#written.push(Buffer.from(`\u001b[0;32m$\u001b[0m \u001b[1m${command}\u001b[0m\r\n`))
  }

  #finish(session: Session): Uint8Array {
    const bytes = session.bytes()
    const isWhole = bytes.length === 0 || bytes.at(-1) === 10
    this.#written.push(bytes, Buffer.from(isWhole ? "\r\n" : "\r\n\r\n"))
    return bytes
  }
}
