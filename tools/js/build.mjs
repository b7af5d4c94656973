// Bundle the widgets and the handout into ragnb/widgets/static, and the desk into docs/desk.html.
// `node build.mjs FOLDER` writes all of them into one folder instead.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const STATIC = "../../ragnb/widgets/static";

/** The options of each bundle: a module of a widget, or a script inside a page. */
const BUNDLES = {
  annotator: { format: "esm" },
  rows: { format: "esm" },
  handout: { format: "iife" },
  // Minified, because each explorable in a saved notebook contains a copy of it.
  explore: { format: "iife", globalName: "explorables", minify: true },
};

/**
 * @param {string} source
 * @param {import("esbuild").BuildOptions} options
 * @returns {Promise<string>} the bundle, which stays readable: names, lines and comments are those of the sources
 */
async function bundled(source, options) {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, source)],
    absWorkingDir: HERE,
    bundle: true,
    write: false,
    charset: "utf8",
    logLevel: "warning",
    loader: { ".css": "text" },
    tsconfigRaw: {}, // tsconfig.json is for the check of types only
    ...options,
  });
  return (outputFiles ?? [])[0].text;
}

/** The desk is one file, so that it can be opened from a disk and sent by mail. */
async function desk() {
  const [page, css] = await Promise.all(["page.html", "page.css"].map((name) => readFile(join(HERE, "src/desk", name), "utf8")));
  const script = await bundled("src/desk/desk.mjs", { format: "iife" });
  return page.replace("/* STYLE */\n", () => css).replace("/* SCRIPT */\n", () => script);
}

/** @type {Map<string, string>} the text of each file by its path */
const files = new Map([["../../docs/desk.html", await desk()]]);
for (const [name, options] of Object.entries(BUNDLES)) {
  const source = await bundled(`src/${name}.mjs`, /** @type {import("esbuild").BuildOptions} */ (options));
  const notice = "minify" in options ? "" : `// Made by \`make js\` from tools/js/src/${name}.mjs: change it there.\n`;
  files.set(`${STATIC}/${name}.js`, notice + source);
}
const folder = process.argv[2];
if (folder) {
  await mkdir(folder, { recursive: true });
}
for (const [path, text] of files) {
  await writeFile(folder ? join(folder, basename(path)) : join(HERE, path), text);
}
