/** A host that was started with extra descriptors: prints the findings of its compromised runner. */
import { found } from "./Start.ts"

console.log(JSON.stringify(await found("without Node's own", "0", "", "")))
