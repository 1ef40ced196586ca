/** The last step of `weft deploy --preview`: deploys the build to the preview, and prints its URLs. */
import type { Preview, PreviewInput } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../../connection/Api.ts"
import { entryPointLines } from "../../deployment/DeploymentText.ts"
import type { EntryPoints } from "../../deployment/EntryPoints.ts"
import { triggerUrl, type UrlBase } from "../../deployment/TriggerUrls.ts"
import { Output } from "../../output/Output.ts"
import { localTime } from "../../output/Times.ts"

export const deployPreview = Effect.fnUntraced(function* (
  project: string,
  name: string,
  input: PreviewInput,
  entryPoints: EntryPoints,
  facts: object
) {
  const output = yield* Output
  const { request, target } = yield* Api
  const { url } = yield* target
  yield* output.status("deploying…")
  const preview = yield* request((weft, options) => weft.previews.deploy(project, name, input, options))
  const base = toUrlBase(url, preview)
  const withUrls = entryPoints.filter((entryPoint) => triggerUrl(base, entryPoint) !== null)
  const urls = withUrls.flatMap((entryPoint) => triggerUrl(base, entryPoint) ?? [])
  yield* output.print({ deployed: false, ...facts, preview, urls: [...new Set(urls)] }, () =>
    [
      `${output.paint.green("preview")} ${name} until ${localTime(preview.expires_at)}${preview.schedules ? "" : ", without schedules"}`,
      ...entryPointLines(withUrls, output.paint, (entryPoint) => triggerUrl(base, entryPoint))
    ].join("\n")
  )
})

/** Returns the parts of all URLs of a preview, whose own URL may be a path. */
const toUrlBase = (server: string, { url }: Preview): UrlBase => {
  const { origin, pathname } = new URL(url, server)
  const [, , org = "", env = ""] = pathname.split("/")
  return { url: url.startsWith("/") ? server : origin, org, env }
}
