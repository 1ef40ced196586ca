/** Builds: the API's methods, and uploads. */
import { BuildsEndpoints } from "../generated/BuildsEndpoints.ts"
import type { BuildRunInput } from "../generated/Inputs.ts"
import type { UploadedBuild } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Envelope, json } from "../transport/Caller.ts"
import { path } from "../transport/Path.ts"
import { randomUuid } from "../transport/Random.ts"

export interface BuildOptions extends RequestOptions {
  /** `live` makes it the live build of the project, active immediately. */
  readonly build_type?: "bundle" | "live" | undefined
  /** A UUID. Uploads with the same id create one build. By default each call has a new id. */
  readonly build_id?: string | undefined
  /** SHA-256 in hex. Computed by default, which browsers allow on HTTPS and localhost only. */
  readonly hash?: string | undefined
}

export class Builds extends BuildsEndpoints {
  /** Runs a function. The timeout includes the `wait` of the input. */
  override run(project: string, buildId: string, input: BuildRunInput, options: RequestOptions = {}) {
    const { timeoutMs = this.caller.connection.timeoutMs + (input.wait ?? 0) * 1000 } = options
    return super.run(project, buildId, input, { ...options, timeoutMs })
  }

  /** Uploads the zip of a build. `POST /v1/projects/{project_id_or_slug}/builds` */
  async upload(project: string, zip: Blob | Uint8Array, options: BuildOptions = {}): Promise<UploadedBuild> {
    const file = zip instanceof Blob ? zip : new Blob([zip.slice()])
    const { build_id = randomUuid(), build_type, hash = await sha256Hex(file) } = options
    const form = new FormData()
    form.set("hash", hash)
    form.set("build_id", build_id)
    if (build_type !== undefined) form.set("build_type", build_type)
    form.set("file", file, "build.zip")
    const { data } = await this.caller.connection.send(
      // The build id makes the request idempotent.
      { method: "POST", path: path`/v1/projects/${project}/builds`, body: form, isRepeatable: true, options },
      json<Envelope<UploadedBuild>>
    )
    return data
  }
}

const sha256Hex = async (file: Blob): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer())
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
