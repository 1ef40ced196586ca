/** Runs a program in a pseudo terminal, provided by `script` of util-linux, and captures its raw output. */
import { spawn } from "node:child_process"
import { stripVTControlCharacters } from "node:util"
import type { Size } from "./Screen.ts"

export interface Session {
  /** Returns the output so far. */
  readonly bytes: () => Uint8Array
  /** Waits until the output without colours matches. Fails after `timeoutMs`, or when the program exits before. */
  readonly until: (pattern: RegExp, timeoutMs?: number) => Promise<void>
  /** Sends input. `\u0003` is Ctrl-C. */
  readonly type: (text: string) => void
  /** Resolves with the exit code, or null after a signal. */
  readonly ended: Promise<number | null>
}

export interface SessionOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly size: Size
}

/** Starts `command`, a shell command line. */
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
  let hasEnded = false
  ended.then(() => {
    hasEnded = true
    process.off("exit", end)
  })
  return {
    bytes: () => Buffer.concat(chunks),
    until: async (pattern, timeoutMs = 180_000) => {
      const end = performance.now() + timeoutMs
      while (!pattern.test(text())) {
        if (hasEnded) throw new Error(`${command} ended before its output matched ${pattern}:\n${text()}`)
        if (performance.now() > end)
          throw new Error(`The output of ${command} did not match ${pattern} within ${timeoutMs} ms:\n${text()}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    type: (typed) => void child.stdin.write(typed),
    ended
  }
}
