/** Load generators and instruments that benchmarks and proofs share. */
export { fileTransfers } from "../load/FileTransfers.ts"
export { type LoadPlan, load } from "../load/Load.ts"
export { show } from "../Report.ts"
export { residentMiB } from "./Memory.ts"
export { processorTime } from "./ProcessorTime.ts"
export { listTree, proportionalMiB } from "./ProcessTree.ts"
export { type Query, queryAt, type Row } from "./Query.ts"
export { bundle, sha256, upload } from "./upload.ts"
