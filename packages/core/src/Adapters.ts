/** Opaque values that adapters provide and hosts pass on, one type per seam. */
import type { Layer } from "effect"
import { type DatabaseStores, MemoryStores } from "./memory/MemoryStores.ts"
import type { BlobStore } from "./platform/blobs/BlobStore.ts"
import type { ClusterBus } from "./platform/cluster/ClusterBus.ts"
import type { Egress } from "./platform/egress/Egress.ts"
import type { Sandbox } from "./platform/sandbox/Sandbox.ts"

/** All record stores, such as `Postgres.database({ url })`. */
export type DatabaseAdapter = Layer.Layer<DatabaseStores, unknown>

/** The bytes of files and builds, such as `S3.blobs({ endpoint, bucket, credentials })`. */
export type BlobsAdapter = Layer.Layer<BlobStore, unknown>

/** The sandbox of tenants' code, such as `IsolatedVm.sandbox()`. */
export type SandboxAdapter = Layer.Layer<Sandbox, unknown>

/** Messages between nodes, such as `Nats.cluster({ servers })`. */
export type ClusterAdapter = Layer.Layer<ClusterBus, unknown>

/** Outbound requests of tenants' code, such as `Egress.egress({ policy })`. */
export type EgressAdapter = Layer.Layer<Egress, unknown>

/** A tracer, such as `Otel.tracing({ endpoint })`. */
export type TracingAdapter = Layer.Layer<never, unknown>

/** Messages within one process, for a host that runs a single node. */
export const localCluster: Layer.Layer<ClusterBus> = MemoryStores.cluster
