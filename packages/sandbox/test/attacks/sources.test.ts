import { attackThemes } from "./ThemeSuite.ts"

attackThemes("source text with an attack", "runSources")
