/** A host with descriptors that it was started with: prints what a runner of its own finds that was taken over. */
import { found } from "./Start.ts"

console.log(JSON.stringify(await found("without Node's own", "0", "", "")))
