/** Layers of files and builds, whose bytes are in the blob store. A part of `Weft.ts`. */
import { Layer } from "effect"
import { NodeMetrics } from "./foundation/telemetry/NodeMetrics.ts"
import { defaultLimits } from "./platform/sandbox/Limits.ts"
import { auditedQuarantines } from "./resources/audit/AuditedQuarantines.ts"
import * as DamageRecorder from "./resources/audit/DamageRecorder.ts"
import { Artifacts } from "./resources/builds/Artifacts.ts"
import { Assets } from "./resources/builds/Assets.ts"
import * as BuildContents from "./resources/builds/BuildContents.ts"
import { Builds } from "./resources/builds/Builds.ts"
import { BuildZips } from "./resources/builds/BuildZips.ts"
import { Deployments } from "./resources/builds/Deployments.ts"
import { CurrentDeployPolicy, type DeployPolicy } from "./resources/builds/DeployPolicy.ts"
import { PreparationQueue } from "./resources/builds/PreparationQueue.ts"
import { Quarantines } from "./resources/builds/Quarantines.ts"
import { Sources } from "./resources/builds/Sources.ts"
import { ArchiveBytesMax } from "./resources/builds/Upload.ts"
import { FileLinks } from "./resources/files/FileLinks.ts"
import { Files } from "./resources/files/Files.ts"
import * as FileJanitor from "./resources/files/Janitor.ts"
import { OpenUploads } from "./resources/files/OpenUploads.ts"
import { publicUrlLayer } from "./resources/files/PublicUrl.ts"
import { Readers } from "./resources/files/Readers.ts"
import { type ScrubConfig, scrubberLayer } from "./resources/files/Scrubber.ts"
import { Uploads } from "./resources/files/Uploads.ts"
import { Previews } from "./resources/previews/Previews.ts"
import { Projects } from "./resources/projects/Projects.ts"

/** Shares the registry of metrics with all other layers. */
const damageReports = Layer.provide(DamageRecorder.layer, NodeMetrics.layer)

/** Builds the services of files. Without a public URL, no links can be created. */
export const filesLayer = (publicUrl: string | (() => string | null) | null, scrub?: ScrubConfig) => {
  const links = Layer.provide(FileLinks.layer, publicUrlLayer(publicUrl))
  const scrubber = Layer.provide(scrubberLayer(scrub), NodeMetrics.layer)
  return Layer.mergeAll(Uploads.layer, FileJanitor.layer, scrubber, links).pipe(
    Layer.provideMerge(Files.layer),
    Layer.provide(Layer.mergeAll(OpenUploads.layer, Readers.layer, damageReports))
  )
}

/** Builds the services of projects, builds and previews. */
export const buildsLayer = ({
  archiveBytes = defaultLimits.archiveBytes,
  deployPolicy = null
}: {
  readonly archiveBytes?: number
  readonly deployPolicy?: DeployPolicy | null
}) =>
  Layer.mergeAll(Layer.provide(Layer.merge(Projects.layer, Previews.layer), BuildContents.layer), Builds.layer).pipe(
    Layer.provide(Layer.succeed(ArchiveBytesMax, archiveBytes)),
    Layer.provide(Layer.succeed(CurrentDeployPolicy, deployPolicy)),
    Layer.provideMerge(Layer.mergeAll(Deployments.layer, Artifacts.layer, Assets.layer, Sources.layer)),
    Layer.provide(Layer.provide(BuildZips.layer, damageReports)),
    Layer.provide(Layer.mergeAll(PreparationQueue.layer, Layer.provide(auditedQuarantines, Quarantines.layer)))
  )
