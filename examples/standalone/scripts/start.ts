/** `npm start`: runs the reference server. Rebuilds it and the console if their sources have changed. */
import "../src/debuggerSignal.ts"
import { pathToFileURL } from "node:url"
import { consoleApp, referenceServer } from "@weft/tooling/programs"

const [server] = await Promise.all([referenceServer(), consoleApp()])
await import(pathToFileURL(server).href)
