import { attackThemes } from "./ThemeSuite.ts"

attackThemes("an attack", "run")
