/** A user's machine: a home, a folder to work in, and the command line as processes of their own. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { commandLine } from "@weft/tooling/programs"

const program = await commandLine()

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Going {
  /** Resolves with what was said until then, once it is said `times` times. */
  readonly says: (text: string | RegExp, times?: number) => Promise<string>
  readonly said: () => string
  /** Ctrl-C. */
  readonly interrupt: () => Promise<Ended>
}

export class Terminal implements Disposable {
  readonly home: string = mkdtempSync(join(tmpdir(), "weft-cli-"))
  readonly #open = new Set<() => void>()

  get configFile(): string {
    return join(this.home, ".config", "weft", "config.json")
  }

  /** Ends by itself, or is killed with the test. */
  begin(folder: string, args: ReadonlyArray<string>, stdin = ""): Going & { readonly ended: Promise<Ended> } {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: join(this.home, folder),
      env: { PATH: process.env.PATH, HOME: this.home, NO_COLOR: "1", TZ: "UTC" }
    })
    const kill = () => void child.kill("SIGKILL")
    this.#open.add(kill)
    const output = { stdout: "", stderr: "" }
    const listeners = new Set<() => void>()
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8").on("data", (text: string) => {
        output[name] += text
        for (const listener of listeners) listener()
      })
    }
    child.stdin.end(stdin)
    const ended = new Promise<Ended>((resolve) =>
      child.on("close", (code) => {
        this.#open.delete(kill)
        resolve({ code, ...output })
        for (const listener of listeners) listener()
      })
    )
    const said = () => output.stdout + output.stderr
    return {
      ended,
      said,
      says: (text, times = 1) => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        const look = () => {
          if (said().split(text).length > times) resolve(said())
          else if (child.exitCode !== null) reject(new Error(`It ended without having said ${text}:\n${said()}`))
          else return
          listeners.delete(look)
        }
        listeners.add(look)
        look()
        return promise
      },
      interrupt: () => {
        child.kill("SIGINT")
        return ended
      }
    }
  }

  run(folder: string, args: ReadonlyArray<string>, stdin?: string): Promise<Ended> {
    return this.begin(folder, args, stdin).ended
  }

  read(path: string): string {
    return readFileSync(join(this.home, path), "utf8")
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.home, path)), { recursive: true })
    writeFileSync(join(this.home, path), text)
  }

  /** Puts a text of a file in another's place, as an editor does that saves. */
  edit(path: string, from: string, to: string): void {
    const text = this.read(path)
    if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
    this.write(path, text.replace(from, to))
  }

  /** What `npm install` would bring, from this workspace. */
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
