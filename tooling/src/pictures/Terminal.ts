/** A scripted terminal session: runs commands and renders everything that the terminal shows. */
import { join } from "node:path"
import { openSession, type Session } from "./PseudoTerminal.ts"
import { type Line, renderScreen, type Size } from "./Screen.ts"

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

  /** Runs a command and waits until it exits. Fails if the exit code is not 0. */
  async run(command: string): Promise<Ended> {
    const begun = performance.now()
    const session = this.#begin(command)
    const code = await session.ended
    const bytes = this.#finish(session)
    const output = Buffer.from(bytes).toString("utf8")
    if (code !== 0) throw new Error(`${command} exited with code ${code}:\n${output}`)
    return { seconds: (performance.now() - begun) / 1000, output }
  }

  cd(folder: string): void {
    this.#prompt(`cd ${folder}`)
    this.#folder = join(this.#folder, folder)
  }

  /** Starts a command and waits until its output matches. The command keeps running. */
  async start(command: string, ready: RegExp): Promise<Ended> {
    const begun = performance.now()
    const session = this.#begin(command)
    this.#running = session
    await session.until(ready)
    return { seconds: (performance.now() - begun) / 1000, output: Buffer.from(session.bytes()).toString("utf8") }
  }

  /** Waits until the output of the running command matches. */
  async until(pattern: RegExp): Promise<void> {
    await this.#running?.until(pattern)
  }

  /** Sends Ctrl-C to the running command and waits until it exits. */
  async interrupt(): Promise<void> {
    const session = this.#running
    if (session === null) return
    this.#running = null
    session.type("\u0003")
    await session.ended
    this.#finish(session)
  }

  /** Returns the content of the terminal. `replacements` hides values that are specific to this machine. */
  lines(replacements: ReadonlyArray<readonly [from: string, to: string]>): Promise<ReadonlyArray<Line>> {
    const running = this.#running === null ? [] : [this.#running.bytes()]
    let text = Buffer.concat([...this.#written, ...running]).toString("utf8")
    for (const [from, to] of replacements) text = text.replaceAll(from, to)
    return renderScreen(Buffer.from(text), this.#size)
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
