class Scorel < Formula
  desc "Reach the coding agent on your machine from any browser or terminal"
  homepage "https://github.com/scorel/scorel"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/scorel_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256_DARWIN_ARM64@"
    end
    on_intel do
      url "@URL@/scorel_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256_DARWIN_AMD64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/scorel_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256_LINUX_ARM64@"
    end
    on_intel do
      url "@URL@/scorel_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256_LINUX_AMD64@"
    end
  end

  def install
    bin.install "scorel"
    (share/"scorel/package").write "brew\n" # `scorel update` refers to Homebrew
    generate_completions_from_executable(bin/"scorel", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/scorel --version")
  end
end
