/** An example host as a child process with its own data dir. */
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { strToU8, zipSync } from "fflate"

export interface Reply {
  readonly status: number
  readonly text: string
  /** Undefined if the body is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>
}

export interface HostProcess {
  /** Sends a request with a JSON body or a form, and an optional bearer token. */
  readonly request: (method: string, path: string, body?: unknown, token?: string) => Promise<Reply>
  /** Sends SIGTERM, deletes the data dir and returns the exit code. */
  readonly stop: () => Promise<number | null>
}

export const sourcePath = (example: string): string => new URL(`../../${example}/src/main.ts`, import.meta.url).pathname

/** Compile cache. All hosts load the same sources. */
const compileCache = new URL("../../../node_modules/.cache/node", import.meta.url).pathname

export const startHost = async (example: string): Promise<HostProcess> => {
  const data = mkdtempSync(join(tmpdir(), "weft-embed-"))
  const child = spawn(process.execPath, ["--conditions=weft-source", sourcePath(example)], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, DATA: data, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const exited = once(child, "exit")
  const lines = createInterface(child.stdout)
  const port = await new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => {
      const [, port] = /(?:port: |127\.0\.0\.1:)(\d+)/.exec(line) ?? []
      if (port !== undefined) resolve(port)
    })
    exited.then(([code]) => reject(new Error(`${example} ended with ${code} before it listened`)), reject)
  })
  return {
    request: async (method, path, body, token) => {
      const isForm = body instanceof FormData
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined || isForm ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) })
      })
      const text = await response.text()
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
      return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined }
    },
    stop: async () => {
      child.kill("SIGTERM")
      const [code] = await exited
      rmSync(data, { recursive: true, force: true })
      return code
    }
  }
}

/** Creates the upload form of a build with one module. */
export const makeBuildForm = (source: string): FormData => {
  const zip = zipSync({ "index.js": strToU8(source) })
  const form = new FormData()
  form.set("hash", createHash("sha256").update(zip).digest("hex"))
  form.set("file", new Blob([Buffer.from(zip)]), "build.zip")
  return form
}
