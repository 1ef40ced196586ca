/** Starts the console in its page. */
import { render } from "solid-js/web"
import "./design/tokens.css"
import "./design/controls.css"
import "./design/layout.css"
import "./session/signIn.css"
import "./overview/overview.css"
import "./runs/runs.css"
import { App } from "./app/App.tsx"
import { initTheme } from "./app/Theme.ts"
import { initLanguage } from "./text/Language.ts"

initTheme()
await initLanguage()
const root = document.getElementById("root")
if (root !== null) render(() => <App />, root)
