/** A user's machine: a home folder, and the command line as child processes. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { commandLine } from "@weft/tooling/programs"

const program = await commandLine()

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunningCommand {
  /** Resolves with the output until then, when it contains the text `times` times. */
  readonly waitFor: (text: string | RegExp, times?: number) => Promise<string>
  readonly output: () => string
  /** Ctrl-C. */
  readonly interrupt: () => Promise<CommandResult>
  readonly signal: (signal: NodeJS.Signals) => void
}

export class Terminal implements Disposable {
  readonly home: string = mkdtempSync(join(tmpdir(), "weft-cli-"))
  readonly #open = new Set<() => void>()

  get configFile(): string {
    return join(this.home, ".config", "weft", "config.json")
  }

  /** Starts a command. It is killed at the end of the test. */
  begin(
    folder: string,
    args: ReadonlyArray<string>,
    stdin = ""
  ): RunningCommand & { readonly ended: Promise<CommandResult> } {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: join(this.home, folder),
      env: { PATH: process.env.PATH, HOME: this.home, NO_COLOR: "1", TZ: "UTC" }
    })
    const kill = () => void child.kill("SIGKILL")
    this.#open.add(kill)
    const captured = { stdout: "", stderr: "" }
    const listeners = new Set<() => void>()
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        captured[name] += text
        for (const listener of listeners) listener()
      })
    }
    child.stdin.end(stdin)
    const ended = new Promise<CommandResult>((resolve) =>
      child.on("close", (code) => {
        this.#open.delete(kill)
        resolve({ code, ...captured })
        for (const listener of listeners) listener()
      })
    )
    const output = () => captured.stdout + captured.stderr
    return {
      ended,
      output,
      waitFor: (text, times = 1) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        const check = () => {
          if (output().split(text).length > times) resolve(output())
          else if (child.exitCode !== null)
            reject(new Error(`The command ended without printing ${text}:\n${output()}`))
          else return
          listeners.delete(check)
        }
        listeners.add(check)
        check()
        return promise
      },
      interrupt: () => {
        child.kill("SIGINT")
        return ended
      },
      signal: (signal) => void child.kill(signal)
    }
  }

  run(folder: string, args: ReadonlyArray<string>, stdin?: string): Promise<CommandResult> {
    return this.begin(folder, args, stdin).ended
  }

  read(path: string): string {
    return readFileSync(join(this.home, path), "utf8")
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true })
    writeFileSync(join(this.home, path), text)
  }

  /** Replaces text in a file, like a save in an editor. */
  edit(path: string, from: string, to: string): void {
    const text = this.read(path)
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
    this.write(path, text.replace(from, to))
  }

  /** Links packages of this workspace, instead of `npm install`. */
  install(folder: string, names: ReadonlyArray<string>): void {
    const { resolve } = createRequire(import.meta.url)
    for (const name of names) {
      const target = join(this.home, folder, "node_modules", name)
      mkdirSync(dirname(target), { recursive: true })
      symlinkSync(dirname(resolve(`${name}/package.json`)), target)
    }
    this.edit(join(folder, "weft.json"), "{", '{ "conditions": ["weft-source"],')
  }

  [Symbol.dispose](): void {
    for (const kill of this.#open) kill()
    rmSync(this.home, { recursive: true, force: true })
  }
}
