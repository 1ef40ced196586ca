/** Prints the machine as the sandbox sees it. */
import { thisMachine } from "../../src/supervisor/RunnerSizing.ts"

console.log(JSON.stringify(thisMachine()))
