// Bundles contain style sheets as texts.
declare module "*.css" {
  const text: string;
  export default text;
}
