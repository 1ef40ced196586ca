/** A process of the harness that receives messages and replies to them. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"

export interface ChildProcess {
  readonly send: (message: object) => void
  /** Resolves to the next message; rejects if the process exits before, or sends none within the time. */
  readonly receive: <A>(schema: Schema.Codec<A, unknown>, timeoutMs: number) => Promise<A>
  readonly kill: () => void
}

/** Starts a module. `niceness` lowers the priority of all its threads. */
export const startChild = (module: URL, niceness = 0): ChildProcess => {
  const file = fileURLToPath(module)
  const child = spawn("nice", ["-n", String(niceness), process.execPath, "--conditions=weft-source", file], {
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })
  const kill = (): void => void child.kill("SIGKILL")
  process.once("exit", kill)
  child.once("exit", () => process.off("exit", kill))
  const receive = <A>(schema: Schema.Codec<A, unknown>, timeoutMs: number): Promise<A> =>
    new Promise((resolve, reject) => {
      const exited = (code: number | null): void => settle(() => reject(new Error(`${file} exited with ${code}`)))
      const received = (message: unknown): void =>
        settle(() => {
          try {
            resolve(Schema.decodeUnknownSync(schema)(message))
          } catch (error) {
            reject(error)
          }
        })
      const timer = setTimeout(
        () => settle(() => reject(new Error(`${file} sent nothing within ${timeoutMs} ms`))),
        timeoutMs
      )
      const settle = (action: () => void): void => {
        clearTimeout(timer)
        child.off("exit", exited)
        child.off("message", received)
        action()
      }
      child.once("exit", exited)
      child.once("message", received)
    })
  return { send: (message) => void child.send(message), receive, kill }
}
