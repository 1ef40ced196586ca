/** The reference server in its own process group, with a data dir that survives it. */
import { spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { listening, referenceServer } from "@weft/tooling/programs"
import { strToU8, zipSync } from "fflate"

export const apiKey = `svc_${randomUUID()}_${randomUUID()}`
export const adminToken = randomUUID()

export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** Returns its stdout and stderr so far. */
  readonly output: () => string
  /** Calls the API and returns the parsed body. Throws on status 400 and above. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<unknown>
  readonly upload: (project: string, source: string) => Promise<void>
  /** Resolves to the exit code. */
  readonly exited: Promise<number | null>
  /** Sends SIGTERM and returns the exit code. */
  readonly stop: () => Promise<number | null>
  /** Sends SIGKILL to the process group: server and runners. */
  readonly kill: () => Promise<void>
}

export interface Start {
  /** A wrapper command, which executes the command that follows it. */
  readonly through?: ReadonlyArray<string>
  /** Flags of Node.js. */
  readonly flags?: ReadonlyArray<string>
  /** Receives its stderr. */
  readonly onOutput?: (text: string) => void
}

const compileCache = new URL("../../../node_modules/.cache/node", import.meta.url).pathname

export const startServer = async (
  dataDir: string,
  variables: Readonly<Record<string, string>> = {},
  { through = [], flags = [], onOutput = () => undefined }: Start = {}
): Promise<ServerProcess> => {
  const [command = process.execPath, ...rest] = [...through, process.execPath, ...flags, await referenceServer()]
  const child = spawn(command, rest, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH,
      // Without the cache, a third of the start is compilation.
      NODE_COMPILE_CACHE: compileCache,
      WEFT_PORT: "0",
      WEFT_DATA_DIR: dataDir,
      WEFT_API_KEY: apiKey,
      WEFT_ADMIN_TOKEN: adminToken,
      ...variables
    }
  })
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve))
  const written: Array<Buffer> = []
  child.stdout?.on("data", (bytes: Buffer) => written.push(bytes))
  child.stderr?.on("data", (bytes: Buffer) => {
    written.push(bytes)
    onOutput(bytes.toString())
    process.stderr.write(bytes)
  })
  const url = await listening(child)
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const isForm = body instanceof FormData
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${path.startsWith("/admin") ? adminToken : apiKey}`,
        ...(isForm || body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status} ${text}`)
    return text === "" ? null : JSON.parse(text)
  }
  return {
    url,
    pid: child.pid ?? 0,
    output: () => Buffer.concat(written).toString("utf8"),
    call,
    upload: (project, source) => upload(call, project, source),
    exited,
    stop: () => {
      child.kill("SIGTERM")
      return exited
    },
    kill: async () => {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      await exited
    }
  }
}

const upload = async (call: ServerProcess["call"], project: string, source: string): Promise<void> => {
  const zip = zipSync({ "index.js": strToU8(source) })
  const form = new FormData()
  form.set("hash", createHash("sha256").update(zip).digest("hex"))
  form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  await call("POST", "/v1/projects", { name: project })
  const answer = await call("POST", `/v1/projects/${project}/builds`, form)
  const id = JSON.stringify(answer).match(/"build_id":"([^"]+)"/)?.[1]
  await call("POST", `/v1/projects/${project}/builds/${id}/deploy`)
}
