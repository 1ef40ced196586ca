/** Builds: what the API has, and their upload. */
import { BuildsEndpoints } from "../generated/BuildsEndpoints.ts"
import type { UploadedBuild } from "../generated/Records.ts"
import type { RequestOptions } from "../RequestOptions.ts"
import { type Envelope, json } from "../transport/Caller.ts"
import { freshKey } from "../transport/Key.ts"
import { path } from "../transport/Path.ts"

export interface BuildOptions extends RequestOptions {
  /** `live` makes it the live build of the project, which serves at once. */
  readonly build_type?: "bundle" | "live" | undefined
  /** A UUID. Uploads with the same one are one; by default each call has its own. */
  readonly build_id?: string | undefined
  /** SHA-256 in hex. Made here by default, which pages can only if they came over HTTPS or from localhost. */
  readonly hash?: string | undefined
}

export class Builds extends BuildsEndpoints {
  /** Uploads the zip of a build. `POST /v1/projects/{project_id_or_slug}/builds` */
  async upload(project: string, zip: Blob | Uint8Array, options: BuildOptions = {}): Promise<UploadedBuild> {
    const file = zip instanceof Blob ? zip : new Blob([zip.slice()])
    const { build_id = freshKey(), build_type, hash = await hashOf(file) } = options
    const form = new FormData()
    form.set("hash", hash)
    form.set("build_id", build_id)
    if (build_type !== undefined) form.set("build_type", build_type)
    form.set("file", file, "build.zip")
    const { data } = await this.caller.connection.send(
      // The id makes it safe to repeat.
      { method: "POST", path: path`/v1/projects/${project}/builds`, body: form, isRepeatable: true, options },
      json<Envelope<UploadedBuild>>
    )
    return data
  }
}

const hashOf = async (file: Blob): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer())
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}
