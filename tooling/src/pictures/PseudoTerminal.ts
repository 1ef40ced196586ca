/** A program in a pseudo terminal, which `script` of util-linux provides: its real bytes, as a terminal would get them. */
import { spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"
import type { Size } from "./Screen.ts"

export interface Session {
  /** All that was written so far. */
  readonly bytes: () => Uint8Array
  /** Until this has been written, colours aside. Fails after `patienceMs`, and when the program ends without. */
  readonly until: (pattern: RegExp, patienceMs?: number) => Promise<void>
  /** Types. `\u0003` is Ctrl-C. */
  readonly type: (text: string) => void
  /** The exit code. */
  readonly ended: Promise<number | null>
}

export interface SessionOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly size: Size
}

/** `command` is a line for the shell. */
export const openSession = (command: string, { cwd, env, size }: SessionOptions): Session => {
  const sized = `stty cols ${size.columns} rows ${size.rows}; exec ${command}`
  const child = spawn("script", ["--quiet", "--return", "--echo", "never", "--command", sized, "/dev/null"], {
    cwd,
    env: { ...env, TERM: "xterm-256color", COLORTERM: "", NO_COLOR: undefined },
    stdio: ["pipe", "pipe", "inherit"]
  })
  const chunks: Array<Buffer> = []
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
  const end = () => void child.kill()
  process.once("exit", end)
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const text = () => stripVTControlCharacters(Buffer.concat(chunks).toString("utf8"))
  let isOver = false
  ended.then(() => {
    isOver = true
    process.off("exit", end)
  })
  return {
    bytes: () => Buffer.concat(chunks),
    until: async (pattern, patienceMs = 180_000) => {
      const end = performance.now() + patienceMs
      while (!pattern.test(text())) {
        if (isOver) throw new Error(`${command} ended without ${pattern}:\n${text()}`)
        if (performance.now() > end) throw new Error(`${command} did not write ${pattern} in time:\n${text()}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    type: (typed) => void child.stdin.write(typed),
    ended
  }
}
